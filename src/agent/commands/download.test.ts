import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { systemClock, type Clock } from '../../core/clock'
import { download } from './download'

// In two pieces and a bit.
const content = new Uint8Array(9 * 1024 * 1024).map((_, at) => at % 251)

let folder: string
let server: Bun.Server<undefined>
/** Ranges that were asked for. */
let ranges: string[]
let respond: (request: Request, part: Uint8Array<ArrayBuffer>) => Response
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-download-'))
  ranges = []
  respond = (_, part) => new Response(part, { status: 206 })
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const range = request.headers.get('range')!
      ranges.push(range)
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range)!
      return respond(request, content.slice(Number(first), Number(last) + 1))
    },
  })
})
afterEach(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

/** A clock whose timers fire at once. */
const hasty = (): Clock => {
  let passed = 0
  return {
    now: () => systemClock.now() + passed,
    after(ms, fn) {
      passed += ms
      queueMicrotask(fn)
      return { cancel() {} }
    },
  }
}
const fetched = async (to = join(folder, 'file'), lifeMs = 600_000, sha256 = 'a') => {
  const timers = hasty()
  await download(
    { address: { hub: server.url.origin, pin: null }, timers, random: () => 0.5 },
    { path: '/download/agent/linux-x64', size: content.byteLength, sha256, to, until: timers.now() + lifeMs },
  )
  return readFileSync(to)
}

test('a file is downloaded in pieces of 4 MiB', async () => {
  expect(Buffer.compare(await fetched(), content)).toBe(0)
  expect(ranges).toEqual(['bytes=0-4194303', 'bytes=4194304-8388607', 'bytes=8388608-9437183'])
})

test('a piece that fails is requested again', async () => {
  const failures: Record<number, Response> = {
    2: new Response(null, { status: 429, headers: { 'Retry-After': '30' } }),
    3: new Response(null, { status: 503 }),
  }
  respond = (_, part) => failures[ranges.length] ?? new Response(part, { status: 206 })
  expect(Buffer.compare(await fetched(), content)).toBe(0)
  // In smaller pieces, because the connection may be slow.
  expect(ranges.slice(0, 4)).toEqual([
    'bytes=0-4194303',
    'bytes=4194304-8388607',
    'bytes=4194304-6291455',
    'bytes=4194304-5242879',
  ])
})

test('it fails if the hub does not have it, or not in time', async () => {
  respond = () => new Response(null, { status: 404 })
  await expect(fetched()).rejects.toThrow('The new version can’t be downloaded. The hub responded with status 404.')
  respond = () => new Response(null, { status: 503 })
  await expect(fetched()).rejects.toThrow('The new version could not be downloaded in time. The hub responded with status 503.')
  respond = (_, part) => new Response(part.slice(1), { status: 206 })
  await expect(fetched()).rejects.toThrow('can’t be downloaded')
})

test('a full disk is one sentence', async () => {
  await expect(fetched('/dev/full')).rejects.toThrow('The new version can’t be stored in /dev/full: the disk is full.')
})

test('a download that takes too long is continued by the next one of the same file', async () => {
  const file = join(folder, 'file')
  let pauses = 0
  respond = (_, part) => (pauses++ === 1 ? new Response(null, { status: 503 }) : new Response(part, { status: 206 }))
  await expect(fetched(file, 15_100)).rejects.toThrow(/^The new version could not be downloaded in time/)
  ranges.length = 0
  expect(Buffer.compare(await fetched(file), content)).toBe(0)
  expect(ranges[0]).toStartWith('bytes=4194304-')
  // A complete file was refused, and another file has another digest.
  for (const sha256 of ['a', 'b']) {
    ranges.length = 0
    expect(Buffer.compare(await fetched(file, 600_000, sha256), content)).toBe(0)
    expect(ranges[0]).toBe('bytes=0-4194303')
  }
})

test('pieces are not asked for after the time is over', async () => {
  await expect(fetched(join(folder, 'file'), 14_000)).rejects.toThrow(
    'The new version could not be downloaded in time: 0 % of it were.',
  )
  expect(ranges).toEqual([])
})
