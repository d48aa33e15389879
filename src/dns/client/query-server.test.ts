import { afterEach, describe, expect, test } from 'bun:test'
import {
  recordOf,
  scriptedServer,
  type ScriptedRequest,
  type Script,
  type ScriptedServer,
} from '../../../test/support/scripted-server'
import { CLASS, message, OPCODE, RCODE } from '../message'
import { encodeMessage } from '../message-encode'
import { rdataOfText } from '../rdata'
import { refuseTsig, signTsig, TSIG_ERROR, type TsigKey } from '../tsig'
import { queryServer, type QueryOptions } from './query-server'
import { QueryFailed } from './failure'
import { querySoa } from './soa'

const key: TsigKey = { name: 'key.example.', algorithm: 'hmac-sha256', secret: Buffer.from('a secret that both of them know!') }
const now = 1_795_268_969_000
const seconds = now / 1000
const question = [{ name: 'www.Example.', type: 'A', class: CLASS.IN }]
const query = message({ id: 0, question })
const address = recordOf('www.example.', 60, 'A', rdataOfText('A', '192.0.2.1', null))

const servers: ScriptedServer[] = []
afterEach(() => servers.splice(0).forEach(server => server.stop()))

async function serverWith(script: Script) {
  const server = await scriptedServer(script)
  servers.push(server)
  return server
}
const askedOf = ({ port }: ScriptedServer, input: TsigKey | null = null) => ({
  at: { address: '127.0.0.1', port },
  key: input,
  now: () => now,
})
/** Failure of a query, and how often it was sent over each transport. */
async function failureOf(script: Script, options: QueryOptions, input: TsigKey | null = null) {
  const server = await serverWith(script)
  try {
    await queryServer(askedOf(server, input), query, options)
  } catch (error) {
    if (error instanceof QueryFailed) return { failure: error.failure, sent: error.sent, by: server.requests.map(one => one.by) }
    throw error
  }
  return 'answered'
}

const answerTo = ({ message: { id, question, flags, opcode } }: ScriptedRequest, more: object = {}) =>
  encodeMessage({
    ...message({ id, question, answer: [address], opcode, ...more }),
    flags: { ...flags, qr: true, aa: true },
  })
const signedTo = (request: ScriptedRequest, more: object = {}, signing: object = {}) =>
  signTsig(answerTo(request, more), key, { time: seconds, prior: request.message.tsig!.mac, ...signing }).message

describe('by UDP', () => {
  test('a response is accepted, whatever the case of its name', async () => {
    const server = await serverWith(request => [
      answerTo(request, { question: [{ ...question[0], name: 'WWW.eXample.' }], answer: [address] }),
    ])
    const { answer } = await queryServer(askedOf(server), query)
    expect(answer).toEqual([address])
    expect(server.requests.map(one => one.by)).toEqual(['udp'])
  })

  test('ids are different each time', async () => {
    const server = await serverWith(request => [answerTo(request)])
    for (let times = 0; times < 8; times++) await queryServer(askedOf(server), query)
    expect(new Set(server.requests.map(one => one.message.id)).size).toBeGreaterThan(4)
  })

  const wrongResponses: [string, (request: ScriptedRequest) => Uint8Array][] = [
    ['octets that are no message', () => Uint8Array.from([1, 2, 3])],
    ['another id', request => answerTo(request, { id: request.message.id ^ 1 })],
    ['another question', request => answerTo(request, { question: [{ ...question[0], name: 'other.example.' }] })],
    ['another type', request => answerTo(request, { question: [{ ...question[0], type: 'AAAA' }] })],
    ['no question', request => answerTo(request, { question: [] })],
    ['a question instead of an answer', request => request.octets],
    ['another kind of message', request => answerTo(request, { opcode: OPCODE.NOTIFY })],
  ]
  test.each(wrongResponses)('other responses are ignored: %s', async (_, wrongResponse) => {
    const server = await serverWith(request => [wrongResponse(request), answerTo(request)])
    expect((await queryServer(askedOf(server), query)).answer).toEqual([address])
    expect(server.requests.map(one => one.by)).toEqual(['udp'])
  })

  test('a truncated response is retried over TCP', async () => {
    const server = await serverWith(request => {
      if (request.by === 'tcp') return [answerTo(request)]
      const cut = answerTo(request, { answer: [] })
      cut[2]! |= 2
      return [cut]
    })
    expect((await queryServer(askedOf(server), query)).answer).toEqual([address])
    expect(server.requests.map(one => one.by)).toEqual(['udp', 'tcp'])
  })

  test('a query without a response is repeated, then retried over TCP', async () => {
    const server = await serverWith(request => [request.by === 'tcp' ? answerTo(request) : null])
    expect((await queryServer(askedOf(server), query)).answer).toEqual([address])
    expect(server.requests.map(one => one.by)).toEqual(['udp', 'udp', 'tcp'])
  })

  test('an unverified response is retried over TCP', async () => {
    const server = await serverWith(request => [request.by === 'tcp' ? signedTo(request) : answerTo(request)])
    expect((await queryServer(askedOf(server, key), query)).answer).toEqual([address])
    expect(server.requests.map(one => one.by)).toEqual(['udp', 'tcp'])
  })

  test('a closed port is reported immediately', async () => {
    const server = await serverWith(() => [])
    server.stop()
    servers.splice(0)
    const started = performance.now()
    const failed = await queryServer(askedOf(server), query).catch((error: QueryFailed) => error)
    expect(failed).toMatchObject({ failure: 'unreachable', sent: false })
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

describe('by TCP', () => {
  const by = 'tcp'
  test('long messages are sent and received completely', async () => {
    const texts = Array.from({ length: 200 }, (_, n) =>
      recordOf('t.example.', 60, 'TXT', rdataOfText('TXT', `"${String(n).padStart(3, '0').repeat(80)}"`, null)),
    )
    const server = await serverWith(request => [answerTo(request, { answer: request.message.answer })])
    const { answer } = await queryServer(askedOf(server), { ...query, answer: texts }, { by })
    expect(answer).toEqual(texts)
  })

  test('a hanging server causes a timeout', async () => {
    const started = performance.now()
    expect(await failureOf(() => [null], { by, timeoutMs: 500 })).toEqual({ failure: 'timeout', sent: true, by: ['tcp'] })
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test('a server that closes the connection', async () => {
    expect(await failureOf(() => ['close'], { by })).toEqual({ failure: 'closed', sent: true, by: ['tcp'] })
  })

  test('a partial response fails', async () => {
    const half: Script = request => {
      const whole = answerTo(request)
      return [whole.subarray(0, whole.length - 3)]
    }
    expect(await failureOf(half, { by })).toMatchObject({ failure: 'invalid_response', sent: true })
  })

  test('a response to another query fails', async () => {
    expect(await failureOf(request => [answerTo(request, { id: request.message.id ^ 1 })], { by })).toMatchObject({
      failure: 'invalid_response',
    })
  })

  test('an abort signal ends the wait', async () => {
    const controller = new AbortController()
    const silent: Script = () => {
      controller.abort()
      return [null]
    }
    expect(await failureOf(silent, { by, signal: controller.signal })).toMatchObject({ failure: 'timeout', sent: true })
  })
})

describe('signatures', () => {
  const by = 'tcp'
  test('a query is signed, and its response is verified', async () => {
    const server = await serverWith(request => [signedTo(request)])
    expect((await queryServer(askedOf(server, key), query)).answer).toEqual([address])
    expect(server.requests[0]!.message.tsig).toMatchObject({ key: 'key.example.', timeSigned: seconds })
  })

  const refused: [string, (request: ScriptedRequest) => Uint8Array, string][] = [
    ['no signature', request => answerTo(request), 'unsigned'],
    ['a refusal without signature', request => answerTo(request, { rcode: RCODE.REFUSED, answer: [] }), 'refused'],
    [
      'another secret',
      request => signedWith(request, { ...key, secret: Buffer.from('another secret of thirty-two oct') }),
      'unsigned',
    ],
    ['another key', request => signedWith(request, { ...key, name: 'other.' }), 'unsigned'],
    ['the MAC of another question', request => signedTo(request, {}, { prior: Buffer.alloc(32) }), 'unsigned'],
    ['another time', request => signedTo(request, {}, { time: seconds + 400 }), 'unsigned'],
    ['a signature that the server does not accept', request => unknownKey(request, TSIG_ERROR.BADSIG), 'bad_key'],
    ['a key that the server does not know', request => unknownKey(request, TSIG_ERROR.BADKEY), 'bad_key'],
    ['clocks that differ', request => signedTo(request, { rcode: RCODE.NOTAUTH }, { error: TSIG_ERROR.BADTIME }), 'bad_key'],
  ]
  const signedWith = (request: ScriptedRequest, other: TsigKey) =>
    signTsig(answerTo(request), other, { time: seconds, prior: request.message.tsig!.mac }).message
  const unknownKey = (request: ScriptedRequest, error: number) =>
    refuseTsig(answerTo(request, { rcode: RCODE.NOTAUTH, answer: [] }), request.message.tsig!, error)

  test.each(refused)('an answer with %s is not taken', async (_, answer, failure) => {
    expect(await failureOf(request => [answer(request)], { by }, key)).toMatchObject({ failure, sent: true })
  })

  test('HMAC-MD5 is not used unless allowed', async () => {
    const server = await serverWith(request => [answerTo(request)])
    await expect(queryServer(askedOf(server, { ...key, algorithm: 'hmac-md5' }), query)).rejects.toThrow('HMAC-MD5')
    expect(server.requests).toEqual([])
  })
})

describe('the SOA of a zone', () => {
  const soa = recordOf('example.', 60, 'SOA', rdataOfText('SOA', 'a.example. b.example. 4294967295 1 2 3 4', null))
  const of = async (more: object, flags = {}) => {
    const server = await serverWith(request => [
      encodeMessage({
        ...message({ id: request.message.id, question: request.message.question, answer: [soa], ...more }),
        flags: { ...request.message.flags, qr: true, aa: true, ...flags },
      }),
    ])
    return await querySoa(askedOf(server), 'example.')
  }

  test('returns the serial', async () => expect(await of({})).toEqual({ serial: 4294967295 }))
  const others: [string, object, object, number][] = [
    ['a refusal', { rcode: RCODE.REFUSED, answer: [] }, {}, RCODE.REFUSED],
    ['the SOA of another zone', { answer: [{ ...soa, name: 'other.' }] }, {}, RCODE.NOERROR],
    ['a non-authoritative server', {}, { aa: false }, RCODE.NOERROR],
  ]
  test.each(others)('is null for %s', async (_, more, flags, rcode) =>
    expect(await of(more, flags)).toEqual({ serial: null, rcode }),
  )

  test('with an invalid format fails', async () => {
    await expect(of({ answer: [{ ...soa, rdata: soa.rdata.subarray(0, 30) }] })).rejects.toMatchObject({
      failure: 'invalid_response',
    })
  })
})
