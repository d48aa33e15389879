import { afterAll, describe, expect, test } from 'bun:test'
import type { Facts } from '../../src/checks/check'
import { InvalidCheckInput } from '../../src/checks/check'
import { tcp } from '../../src/checks/tcp'
import { checkContext, limitOfServer } from '../support/check-context'
import { fixtureCa, talker, stopTalkers, type Said } from '../support/talker'

afterAll(stopTalkers)

const run = async (
  said: Said,
  options: Parameters<typeof tcp.run>[1] = {},
  limit: Parameters<typeof checkContext>[0] = {},
): Promise<Facts> => {
  const port = await talker(said)
  const input = { ca: fixtureCa, ...options }
  tcp.validate!(input, `a.test:${port}`)
  return await tcp.run(tcp.target(`A.test:${port}`), input, checkContext(limit))
}

describe('a port', () => {
  test('that is open is up, without reading anything', async () => {
    const facts = await run(socket => socket.write('hello\r\n'))
    expect(facts).toMatchObject({ connected: true, error: null, body: null, address: '127.0.0.1' })
    expect(facts.request).toMatch(/^TCP a\.test:\d+$/)
  })

  test('runs its steps and skips other lines', async () => {
    const facts = await run(
      socket => {
        socket.write('220-first\r\n220 mail ready\r\n')
        socket.on('data', octets => socket.write(`250 you said ${octets.toString().trim()}\r\n`))
      },
      { steps: [{ expect: '^220 ', send: 'EHLO me\r\n' }, { expect_text: 'said EHLO me' }] },
    )
    expect(facts.error).toBeNull()
    expect(facts.body).toBe('220-first\r\n220 mail ready\r\n250 you said EHLO me\r\n')
    expect(facts.phases.first_byte).toBeGreaterThanOrEqual(0)
  })

  test('may send in pieces, and a prompt without a line end counts', async () => {
    const facts = await run(
      socket => {
        socket.write('log')
        setTimeout(() => socket.write('in: '), 20)
        socket.on('data', octets => socket.end(`hello ${octets.toString()}`))
      },
      { steps: [{ expect: '^login: $', send: 'ada' }, { expect: '^hello ada$' }] },
    )
    expect(facts.error).toBeNull()
  })

  test('that sends something else is down, with what it sent', async () => {
    const facts = await run(socket => socket.end('550 rejected\r\n'), { steps: [{ expect: '^220 ' }] })
    expect(facts.error).toEqual({ kind: 'content', message: 'received "550 rejected" at step 1, expected "^220 "' })
    const limit = limitOfServer()
    const waiting = await run(socket => socket.write('550 wait\r\n', limit.start), { steps: [{ expect: '^220 ' }] }, limit)
    expect(waiting.error!.kind).toBe('content')
  })

  test('that sends more than the limit is down', async () => {
    const facts = await run(socket => socket.write('x'.repeat(5000)), { steps: [{ expect: 'y' }], read_limit_bytes: 1000 })
    expect(facts.error).toEqual({ kind: 'protocol', message: 'the server sent more than 1000 bytes' })
    expect(facts.body).toHaveLength(1000)
  })

  test('works with implicit TLS', async () => {
    const facts = await run({ implicit: socket => socket.write('hello\n') }, { tls: 'implicit', steps: [{ expect: 'hello' }] })
    expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
    const other = await run({ implicit: socket => socket.write('hello\n') }, { tls: 'implicit', server_name: 'c.test' })
    expect(other.error!.kind).toBe('certificate')
  })

  test('works with STARTTLS', async () => {
    const facts = await run(
      { plain: 'ready\r\n', agrees: 'OK\r\n', implicit: socket => socket.on('data', octets => socket.write(`got ${octets}`)) },
      {
        tls: 'starttls',
        steps: [
          { expect: '^ready', send: 'STARTTLS\r\n' },
          { expect: '^OK', starttls: true },
          { send: 'x\r\n' },
          { expect: '^got x$' },
        ],
      },
    )
    expect(facts).toMatchObject({
      error: null,
      tls: { certificate: { names: ['a.test', 'b.test'] } },
      body: 'ready\r\nOK\r\ngot x\r\n',
    })
  })

  test('that continues in plain text after STARTTLS is rejected', async () => {
    const facts = await run(
      { plain: 'ready\r\n', agrees: 'OK\r\n250 injected\r\n', implicit: () => {} },
      {
        tls: 'starttls',
        steps: [
          { expect: '^ready', send: 'STARTTLS\r\n' },
          { expect: '^OK', starttls: true },
        ],
      },
    )
    expect(facts.error).toMatchObject({ kind: 'protocol', message: expect.stringContaining('plain text') })
  })
})

test.each<[string, Parameters<typeof tcp.run>[1], string]>([
  ['an invalid expression', { steps: [{ expect: '(' }] }, '/options/steps/0/expect'],
  ['an expression and a text', { steps: [{ send: 'x' }, { expect: 'a', expect_text: 'b' }] }, '/options/steps/1/expect_text'],
  ['STARTTLS without a step for it', { tls: 'starttls', steps: [{ send: 'x' }] }, '/options/steps'],
  ['a STARTTLS step without it', { steps: [{ starttls: true }] }, '/options/steps'],
  ['an invalid name', { server_name: 'a b' }, '/options/server_name'],
])('%s is rejected', (_, options, pointer) => {
  const refuse = () => tcp.validate!(options, 'a.test:1')
  expect(refuse).toThrow(InvalidCheckInput)
  expect(refuse).toThrow(expect.objectContaining({ pointer }))
})

test('a target needs a port', () => {
  expect(() => tcp.target('a.test')).toThrow(InvalidCheckInput)
  expect(tcp.target('[2001:DB8::1]:25')).toBe('[2001:db8::1]:25')
})
