import { expect, test } from 'bun:test'
import { mkdirSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { ManualClock } from '../../../test/support/manual-clock'
import { Root } from '../sample/root'
import { CertificateReader } from './reader'

const start = Date.parse('2026-11-27T10:00:00Z')
const minuteMs = 60_000
const file = (path: string) => ({
  ...{ path, kind: 'configured', chain: [], modified_at: null, mode: null, owner: null, references: [], key: null, error: null },
})

/** A reader whose command prints what is in a file. */
function scene(paths: readonly string[], more: Partial<ConstructorParameters<typeof CertificateReader>[0]> = {}) {
  const machine = new MachineFiles()
  const certificates = { files: paths.map(file), served: [], certificates: [] }
  machine.write({ 'printed.json': JSON.stringify({ certificates, problems: [], without_tls: [] }) })
  const reader = new CertificateReader({
    root: new Root(machine.folder),
    command: ['cat', join(machine.folder, 'printed.json')],
    requestFile: join(machine.folder, 'missing', 'wanted'),
    resultFile: join(machine.folder, 'result.json'),
    ...more,
  })
  const problems: string[] = []
  /** Whether certificates are read at a minute. */
  const isRead = async (minute: number, isForced = false) =>
    (await reader.read(one => problems.push(one), start + minute * minuteMs, isForced)) !== null
  /** Minutes in a range in which certificates are read. */
  const readAt = async (from: number, to: number) => {
    const found: number[] = []
    for (let minute = from; minute <= to; minute++) if (await isRead(minute)) found.push(minute)
    return found
  }
  return { machine, reader, readAt, isRead, problems }
}

let second = 0
/** Sets the time of a change, which differs from all others. */
const touch = (machine: MachineFiles, path: string) => utimesSync(join(machine.folder, path), ++second, second)

test('certificates are read every hour, when someone asks, and when root has found others', async () => {
  const { machine, readAt, isRead, problems } = scene([])
  using _ = machine
  expect(await readAt(0, 119)).toEqual([0, 60])
  expect(await isRead(119.5, true)).toBe(true)
  machine.write({ 'result.json': '{}' })
  expect(await readAt(120, 179)).toEqual([120])
  expect(problems).toEqual([])
})

test('they are read again after a change of a file or its folder, once it has ended, and not all the time', async () => {
  const { machine, readAt } = scene(['/srv/tls/shop.pem', '/srv/acme.json#shop.example.com', '/root/hidden/cert.pem'])
  using _ = machine
  machine.write({ 'srv/tls/shop.pem': 'one', 'srv/acme.json': '{}' })
  expect(await readAt(0, 20)).toEqual([0])
  // Written in place.
  touch(machine, 'srv/tls/shop.pem')
  expect(await readAt(21, 30)).toEqual([22])
  touch(machine, 'srv/acme.json')
  // Ten minutes after the last reading.
  expect(await readAt(31, 40)).toEqual([32])
  // Another file in the folder.
  touch(machine, 'srv/tls')
  expect(await readAt(41, 60)).toEqual([42])
  const busy: number[] = []
  for (let minute = 61; minute < 100; minute++) {
    if (minute % 3 > 0) touch(machine, 'srv/tls')
    busy.push(...(await readAt(minute, minute)))
  }
  expect(busy).toEqual([63, 75, 87, 99])
})

test('renewals of Certbot are noticed, whose certificates only root can see', async () => {
  const { machine, readAt } = scene([])
  using _ = machine
  expect(await readAt(0, 20)).toEqual([0])
  mkdirSync(join(machine.folder, 'etc/letsencrypt/renewal'), { recursive: true })
  expect(await readAt(21, 40)).toEqual([22])
  touch(machine, 'etc/letsencrypt/renewal')
  expect(await readAt(41, 59)).toEqual([42])
})

test('at most 300 files and folders are looked at, and links that lead nowhere do no harm', async () => {
  const { machine, readAt } = scene(Array.from({ length: 500 }, (_, at) => `/srv/${at}/cert.pem`))
  using _ = machine
  for (let at = 0; at < 500; at++) machine.write({ [`srv/${at}/cert.pem`]: 'one' })
  symlinkSync('/nowhere', join(machine.folder, 'srv/link'))
  machine.remove('srv/0/cert.pem')
  symlinkSync('cert.pem', join(machine.folder, 'srv/0/cert.pem'))
  expect(await readAt(0, 20)).toEqual([0])
  touch(machine, 'srv/400/cert.pem')
  expect(await readAt(21, 40)).toEqual([])
  touch(machine, 'srv/100/cert.pem')
  expect(await readAt(41, 50)).toEqual([42])
})

test('a network file system that doesn’t respond delays reports by two seconds once, and changes are noticed once it does', async () => {
  const clock = new ManualClock()
  const looked: string[] = []
  let hanging: PromiseWithResolvers<void> | null = null
  const changeOf = async (path: string) => {
    looked.push(path)
    if (path.includes('/nfs/')) await hanging?.promise
    return statSync(path).mtimeMs
  }
  const { machine, readAt, isRead, problems } = scene(['/nfs/cert.pem', '/srv/cert.pem'], { clock, changeOf })
  using _ = machine
  machine.write({ 'nfs/cert.pem': 'one', 'srv/cert.pem': 'one' })
  expect(await readAt(0, 20)).toEqual([0])

  hanging = Promise.withResolvers<void>()
  const file = join(machine.folder, 'nfs/cert.pem')
  const first = isRead(21)
  while (looked.at(-1) !== file) await Promise.resolve()
  clock.advance(2000)
  expect(await first).toBe(false)
  const count = looked.length
  // Nothing else is looked at, and nothing waits.
  expect(await readAt(22, 59)).toEqual([])
  expect(looked).toHaveLength(count)
  expect(new Set(problems)).toEqual(
    new Set(['Changed certificates are noticed only every hour, because the file system of /nfs/cert.pem doesn’t respond.']),
  )
  expect(await readAt(60, 70)).toEqual([60])

  problems.length = 0
  hanging.resolve()
  hanging = null
  await new Promise(setImmediate)
  touch(machine, 'srv/cert.pem')
  expect(await readAt(71, 90)).toEqual([72])
  expect(problems).toEqual([])
})
