import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { checkTypes } from '../../src/checks'
import type { CheckType, Facts } from '../../src/checks/check'
import { evidenceOf, hiding } from '../../src/checks/engine/evidence'
import { fieldProblems } from '../../src/core/validate'
import { around } from '../support/around'
import { checkSubjects } from '../support/check-subjects'

// What an engine relies on, whatever the type.

/** A server over TCP that counts who is connected. */
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
  for (let at = 0; at < 500 && !done(); at++) await new Promise(resolve => setTimeout(resolve, 10))
  expect(done()).toBe(true)
}

const subjectOf = (type: CheckType) => checkSubjects[type.name]!
const asked = (type: CheckType, port: number, given: Parameters<typeof around>[0] = {}, host = 'a.test'): Promise<Facts> => {
  const { target, options } = subjectOf(type).asking(host, port)
  return type.run(type.target(target), options, around(given))
}

test('every type that is registered has a subject, and a name of its own', () => {
  const names = checkTypes.map(one => one.name)
  expect(names.filter(name => checkSubjects[name] === undefined)).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

describe.each(checkTypes.map(type => [type.name, type] as const))('%s', (_, type) => {
  const { asking, transport, secrets = [] } = subjectOf(type)
  const overTcp = test.skipIf(transport !== 'tcp')

  test('describes itself, each option, and what an option is when it is not given', () => {
    expect([type.title, type.description, type.targetForm].every(text => text.length > 0)).toBe(true)
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

  test('reads a target once and for all, and takes its own options', () => {
    const { target, options } = asking('a.test', 4711)
    const kept = type.target(target)
    expect(type.target(kept)).toBe(kept)
    expect(fieldProblems(type.options, options)).toEqual([])
    type.refuse?.(options, kept)
    for (const more of secrets) {
      expect(fieldProblems(type.options, { ...options, ...more })).toEqual([])
      type.refuse?.({ ...options, ...more }, kept)
    }
    expect(fieldProblems(type.options, { ...options, no_such_option: 1 })).not.toEqual([])
  })

  overTcp('a closed port is down, and no error of the check', async () => {
    const facts = await asked(type, await closedPort())
    expect(facts).toMatchObject({ connected: false, error: { kind: 'refused' } })
    expect(facts.phases.total).toBeGreaterThanOrEqual(0)
  })

  overTcp('a silent server is waited for no longer than the time of the check, and let go', async () => {
    const server = await counted(socket => socket.resume())
    const began = performance.now()
    const facts = await asked(type, server.port, { withinMs: 200 })
    expect(facts).toMatchObject({ connected: true, address: '127.0.0.1', error: { kind: 'timeout' } })
    expect(performance.now() - began).toBeLessThan(5000)
    expect(facts.phases.total).toBeGreaterThan(100)
    await until(() => server.open.size === 0)
  })

  overTcp('a server that hangs up is down', async () => {
    const server = await counted(socket => socket.destroy())
    const facts = await asked(type, server.port)
    expect(facts.error!.kind).toMatch(/^(closed|tls|protocol)$/)
  })

  overTcp('a server that answers nonsense is down, and let go', async () => {
    const server = await counted(socket => {
      socket.write(Buffer.from(Array.from({ length: 3000 }, (__, at) => (at * 37) & 0xff)))
      socket.resume()
    })
    const facts = await asked(type, server.port, { withinMs: 3000 })
    expect(facts.error).not.toBeNull()
    expect(facts.error!.kind).not.toBe('internal')
    await until(() => server.open.size === 0)
  })

  overTcp('a check whose time is up before it begins does not begin', async () => {
    const server = await counted(socket => socket.resume())
    const { target, options } = asking('a.test', server.port)
    const facts = await type.run(type.target(target), options, { ...around(), signal: AbortSignal.abort() })
    expect(facts.error!.kind).toBe('timeout')
    await until(() => server.open.size === 0)
  })

  test('a name that nobody knows, and an address that is closed, are not asked', async () => {
    const unknown = await asked(type, 4711, {}, 'unknown.test')
    expect(unknown).toMatchObject({ connected: false, address: null, error: { kind: 'dns' } })
    const server = await counted(socket => socket.resume())
    const blocked = await asked(type, server.port, { policy: { allowPrivate: false } })
    expect(blocked).toMatchObject({ connected: false, error: { kind: 'blocked_address' } })
    expect(JSON.stringify(blocked)).not.toContain('127.0.0.1')
    expect(server.seen()).toBe(0)
  })

  overTcp('what was sent in secret is shown nowhere, whatever the server sends back', async () => {
    for (const more of secrets) {
      const server = await counted(socket => {
        let said = false
        socket.on('data', octets => {
          // To HTTP it is an answer, to all else noise.
          if (!said) socket.write('HTTP/1.1 200 OK\r\nX-Echo: ')
          said = true
          socket.write(octets.toString('latin1').replaceAll(/\r\n/g, ' '))
          socket.end(`\r\n\r\n${octets.toString('latin1')}`)
        })
      })
      const { target, options } = asking('a.test', server.port)
      const given = { ...options, ...more }
      const facts = await type.run(type.target(target), given, around({ withinMs: 3000 }))
      const shown = JSON.stringify([facts.request, facts.error, evidenceOf(facts, hiding(given, type))])
      expect(shown).not.toMatch(/changeme/i)
      expect(shown).not.toContain(btoa('changeme').slice(0, 9))
    }
  })
})
