import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { checkTypes } from '../../src/checks'
import type { CheckType, Facts } from '../../src/checks/check'
import { evidenceOf, redactorFor } from '../../src/checks/engine/evidence'
import { fieldProblems } from '../../src/core/validate'
import { checkContext, limitOfServer } from '../support/check-context'
import { checkSubjects } from '../support/check-subjects'

// What the engine relies on, for every type.

/** A TCP server that tracks its connections. */
async function counted(talk: (socket: Socket) => void) {
  const open = new Set<Socket>()
  let seen = 0
  const server = createServer(socket => {
    seen++
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    talk(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, open, seen: () => seen }
}
const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

async function until(done: () => boolean): Promise<void> {
  for (let at = 0; at < 2000 && !done(); at++) await new Promise(resolve => setTimeout(resolve, 10))
  expect(done()).toBe(true)
}

const subjectOf = (type: CheckType) => checkSubjects[type.name]!
const check = (
  type: CheckType,
  port: number,
  input: Parameters<typeof checkContext>[0] = {},
  host = 'a.test',
): Promise<Facts> => {
  const { target, options } = subjectOf(type).asking(host, port)
  return type.run(type.target(target), options, checkContext(input))
}

test('every registered type has a subject and a unique name', () => {
  const names = checkTypes.map(one => one.name)
  expect(names.filter(name => checkSubjects[name] === undefined)).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

describe.each(checkTypes.map(type => [type.name, type] as const))('%s', (_, type) => {
  const { asking, transport, secrets = [] } = subjectOf(type)
  const overTcp = test.skipIf(transport !== 'tcp')

  test('describes itself and each option, with valid defaults', () => {
    expect([type.title, type.description, type.targetDescription].every(text => text.length > 0)).toBe(true)
    for (const [name, option] of Object.entries(type.options.properties)) {
      expect([name, option.description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)])
      if (option.default !== undefined) expect([name, fieldProblems(option, option.default)]).toEqual([name, []])
    }
  })

  test('has secrets and destinations that are options', () => {
    for (const pointer of [...type.secrets, ...(type.destination ?? [])]) {
      const [, member] = pointer.split('/')
      expect([pointer, Object.keys(type.options.properties)]).toEqual([pointer, expect.arrayContaining([member!])])
    }
  })

  test('has canonical targets, and accepts its own options', () => {
    const { target, options } = asking('a.test', 4711)
    const canonical = type.target(target)
    expect(type.target(canonical)).toBe(canonical)
    expect(fieldProblems(type.options, options)).toEqual([])
    type.validate?.(options, canonical)
    for (const more of secrets) {
      expect(fieldProblems(type.options, { ...options, ...more })).toEqual([])
      type.validate?.({ ...options, ...more }, canonical)
    }
    expect(fieldProblems(type.options, { ...options, no_such_option: 1 })).not.toEqual([])
  })

  overTcp('a closed port is down, not an internal error', async () => {
    const facts = await check(type, await closedPort())
    expect(facts).toMatchObject({ connected: false, error: { kind: 'refused' } })
    expect(facts.phases.total).toBeGreaterThanOrEqual(0)
  })

  overTcp('a silent server is waited for until the time limit, and the connection is closed', async () => {
    const limit = limitOfServer()
    const server = await counted(socket => {
      socket.resume()
      limit.start()
    })
    const startedAt = performance.now()
    const facts = await check(type, server.port, { signal: limit.signal })
    expect(facts).toMatchObject({ connected: true, address: '127.0.0.1', error: { kind: 'timeout' } })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(facts.phases.total).toBeGreaterThan(100)
    await until(() => server.open.size === 0)
  })

  overTcp('a server that closes the connection is down', async () => {
    const server = await counted(socket => socket.destroy())
    const facts = await check(type, server.port)
    expect(facts.error!.kind).toMatch(/^(closed|tls|protocol)$/)
  })

  overTcp('a server that sends garbage is down, and the connection is closed', async () => {
    const server = await counted(socket => {
      socket.write(Buffer.from(Array.from({ length: 3000 }, (__, at) => (at * 37) & 0xff)))
      socket.resume()
    })
    const facts = await check(type, server.port, { withinMs: 3000 })
    expect(facts.error).not.toBeNull()
    expect(facts.error!.kind).not.toBe('internal')
    await until(() => server.open.size === 0)
  })

  overTcp('a check whose time limit has already passed does not start', async () => {
    const server = await counted(socket => socket.resume())
    const { target, options } = asking('a.test', server.port)
    const facts = await type.run(type.target(target), options, { ...checkContext(), signal: AbortSignal.abort() })
    expect(facts.error!.kind).toBe('timeout')
    await until(() => server.open.size === 0)
  })

  test('unknown names and blocked addresses are not contacted', async () => {
    const unknown = await check(type, 4711, {}, 'unknown.test')
    expect(unknown).toMatchObject({ connected: false, address: null, error: { kind: 'dns' } })
    const server = await counted(socket => socket.resume())
    const blocked = await check(type, server.port, { policy: { allowPrivate: false } })
    expect(blocked).toMatchObject({ connected: false, error: { kind: 'blocked_address' } })
    expect(JSON.stringify(blocked)).not.toContain('127.0.0.1')
    expect(server.seen()).toBe(0)
  })

  overTcp('secrets are never shown, whatever the server sends back', async () => {
    for (const more of secrets) {
      const server = await counted(socket => {
        let output = false
        socket.on('data', octets => {
          // A valid response for HTTP, garbage for all other types.
          if (!output) socket.write('HTTP/1.1 200 OK\r\nX-Echo: ')
          output = true
          socket.write(octets.toString('latin1').replaceAll(/\r\n/g, ' '))
          socket.end(`\r\n\r\n${octets.toString('latin1')}`)
        })
      })
      const { target, options } = asking('a.test', server.port)
      const value = { ...options, ...more }
      const facts = await type.run(type.target(target), value, checkContext({ withinMs: 3000 }))
      const shown = JSON.stringify([facts.request, facts.error, evidenceOf(facts, redactorFor(value, type))])
      expect(shown).not.toMatch(/changeme/i)
      expect(shown).not.toContain(btoa('changeme').slice(0, 9))
    }
  })
})
