import { afterEach, describe, expect, test } from 'bun:test'
import { recordOf, scriptedServer, type Asked, type Script, type ScriptedServer } from '../../../test/support/scripted-server'
import { CLASS, message, OPCODE, RCODE } from '../dns/message'
import { encodeMessage } from '../dns/message-encode'
import { rdataOfText } from '../dns/rdata'
import { refuseTsig, signTsig, TSIG_ERROR, type TsigKey } from '../dns/tsig'
import { ask, type Asking } from './ask'
import { AskFailed } from './failure'
import { askSoa } from './soa'

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
const askedOf = ({ port }: ScriptedServer, given: TsigKey | null = null) => ({
  at: { address: '127.0.0.1', port },
  key: given,
  now: () => now,
})
/** The failure of a question, and how often it was asked by each protocol. */
async function failureOf(script: Script, asking: Asking, given: TsigKey | null = null) {
  const server = await serverWith(script)
  try {
    await ask(askedOf(server, given), query, asking)
  } catch (error) {
    if (error instanceof AskFailed) return { failure: error.failure, sent: error.sent, by: server.asked.map(one => one.by) }
    throw error
  }
  return 'answered'
}

const answerTo = ({ message: { id, question: asked, flags, opcode } }: Asked, more: object = {}) =>
  encodeMessage({
    ...message({ id, question: asked, answer: [address], opcode, ...more }),
    flags: { ...flags, qr: true, aa: true },
  })
const signedTo = (asked: Asked, more: object = {}, signing: object = {}) =>
  signTsig(answerTo(asked, more), key, { time: seconds, prior: asked.message.tsig!.mac, ...signing }).message

describe('by UDP', () => {
  test('an answer is taken, its name in whatever case', async () => {
    const server = await serverWith(asked => [
      answerTo(asked, { question: [{ ...question[0], name: 'WWW.eXample.' }], answer: [address] }),
    ])
    const { answer } = await ask(askedOf(server), query)
    expect(answer).toEqual([address])
    expect(server.asked.map(one => one.by)).toEqual(['udp'])
  })

  test('ids are different each time', async () => {
    const server = await serverWith(asked => [answerTo(asked)])
    for (let times = 0; times < 8; times++) await ask(askedOf(server), query)
    expect(new Set(server.asked.map(one => one.message.id)).size).toBeGreaterThan(4)
  })

  const strangers: [string, (asked: Asked) => Uint8Array][] = [
    ['octets that are no message', () => Uint8Array.from([1, 2, 3])],
    ['another id', asked => answerTo(asked, { id: asked.message.id ^ 1 })],
    ['another question', asked => answerTo(asked, { question: [{ ...question[0], name: 'other.example.' }] })],
    ['another type', asked => answerTo(asked, { question: [{ ...question[0], type: 'AAAA' }] })],
    ['no question', asked => answerTo(asked, { question: [] })],
    ['a question instead of an answer', asked => asked.octets],
    ['another kind of message', asked => answerTo(asked, { opcode: OPCODE.NOTIFY })],
  ]
  test.each(strangers)('what is not the answer is passed over: %s', async (_, stranger) => {
    const server = await serverWith(asked => [stranger(asked), answerTo(asked)])
    expect((await ask(askedOf(server), query)).answer).toEqual([address])
    expect(server.asked.map(one => one.by)).toEqual(['udp'])
  })

  test('an answer that is cut is asked for by TCP', async () => {
    const server = await serverWith(asked => {
      if (asked.by === 'tcp') return [answerTo(asked)]
      const cut = answerTo(asked, { answer: [] })
      cut[2]! |= 2
      return [cut]
    })
    expect((await ask(askedOf(server), query)).answer).toEqual([address])
    expect(server.asked.map(one => one.by)).toEqual(['udp', 'tcp'])
  })

  test('a question without an answer is sent again, and then by TCP', async () => {
    const server = await serverWith(asked => [asked.by === 'tcp' ? answerTo(asked) : null])
    expect((await ask(askedOf(server), query)).answer).toEqual([address])
    expect(server.asked.map(one => one.by)).toEqual(['udp', 'udp', 'tcp'])
  })

  test('an answer that does not prove itself is asked for by TCP', async () => {
    const server = await serverWith(asked => [asked.by === 'tcp' ? signedTo(asked) : answerTo(asked)])
    expect((await ask(askedOf(server, key), query)).answer).toEqual([address])
    expect(server.asked.map(one => one.by)).toEqual(['udp', 'tcp'])
  })

  test('a port that nobody listens on is told at once', async () => {
    const server = await serverWith(() => [])
    server.stop()
    servers.splice(0)
    const started = performance.now()
    const failed = await ask(askedOf(server), query).catch((error: AskFailed) => error)
    expect(failed).toMatchObject({ failure: 'unreachable', sent: false })
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('by TCP', () => {
  const by = 'tcp'
  test('a long message goes out whole, and a long one comes back', async () => {
    const texts = Array.from({ length: 200 }, (_, n) =>
      recordOf('t.example.', 60, 'TXT', rdataOfText('TXT', `"${String(n).padStart(3, '0').repeat(80)}"`, null)),
    )
    const server = await serverWith(asked => [answerTo(asked, { answer: asked.message.answer })])
    const { answer } = await ask(askedOf(server), { ...query, answer: texts }, { by })
    expect(answer).toEqual(texts)
  })

  test('a server that hangs costs no more than the time limit', async () => {
    const started = performance.now()
    expect(await failureOf(() => [null], { by, timeoutMs: 150 })).toEqual({ failure: 'timeout', sent: true, by: ['tcp'] })
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test('a server that hangs up', async () => {
    expect(await failureOf(() => ['close'], { by })).toEqual({ failure: 'closed', sent: true, by: ['tcp'] })
  })

  test('half an answer is none', async () => {
    const half: Script = asked => {
      const whole = answerTo(asked)
      return [whole.subarray(0, whole.length - 3)]
    }
    expect(await failureOf(half, { by })).toMatchObject({ failure: 'invalid_answer', sent: true })
  })

  test('the answer to another question', async () => {
    expect(await failureOf(asked => [answerTo(asked, { id: asked.message.id ^ 1 })], { by })).toMatchObject({
      failure: 'invalid_answer',
    })
  })

  test('who gives up early is not kept waiting', async () => {
    const signal = AbortSignal.timeout(50)
    expect(await failureOf(() => [null], { by, signal })).toMatchObject({ failure: 'timeout', sent: true })
  })
})

describe('signatures', () => {
  const by = 'tcp'
  test('a question is signed, and its answer is verified', async () => {
    const server = await serverWith(asked => [signedTo(asked)])
    expect((await ask(askedOf(server, key), query)).answer).toEqual([address])
    expect(server.asked[0]!.message.tsig).toMatchObject({ key: 'key.example.', timeSigned: seconds })
  })

  const refused: [string, (asked: Asked) => Uint8Array, string][] = [
    ['no signature', asked => answerTo(asked), 'unsigned'],
    ['a refusal without signature', asked => answerTo(asked, { rcode: RCODE.REFUSED, answer: [] }), 'refused'],
    [
      'another secret',
      asked => signedWith(asked, { ...key, secret: Buffer.from('another secret of thirty-two oct') }),
      'unsigned',
    ],
    ['another key', asked => signedWith(asked, { ...key, name: 'other.' }), 'unsigned'],
    ['the MAC of another question', asked => signedTo(asked, {}, { prior: Buffer.alloc(32) }), 'unsigned'],
    ['another time', asked => signedTo(asked, {}, { time: seconds + 400 }), 'unsigned'],
    ['a signature that the server does not accept', asked => unknownKey(asked, TSIG_ERROR.BADSIG), 'bad_key'],
    ['a key that the server does not know', asked => unknownKey(asked, TSIG_ERROR.BADKEY), 'bad_key'],
    ['clocks that differ', asked => signedTo(asked, { rcode: RCODE.NOTAUTH }, { error: TSIG_ERROR.BADTIME }), 'bad_key'],
  ]
  const signedWith = (asked: Asked, other: TsigKey) =>
    signTsig(answerTo(asked), other, { time: seconds, prior: asked.message.tsig!.mac }).message
  const unknownKey = (asked: Asked, error: number) =>
    refuseTsig(answerTo(asked, { rcode: RCODE.NOTAUTH, answer: [] }), asked.message.tsig!, error)

  test.each(refused)('an answer with %s is not taken', async (_, answer, failure) => {
    expect(await failureOf(asked => [answer(asked)], { by }, key)).toMatchObject({ failure, sent: true })
  })

  test('HMAC-MD5 that nobody allowed is not used', async () => {
    const server = await serverWith(asked => [answerTo(asked)])
    await expect(ask(askedOf(server, { ...key, algorithm: 'hmac-md5' }), query)).rejects.toThrow('HMAC-MD5')
    expect(server.asked).toEqual([])
  })
})

describe('the SOA of a zone', () => {
  const soa = recordOf('example.', 60, 'SOA', rdataOfText('SOA', 'a.example. b.example. 4294967295 1 2 3 4', null))
  const of = async (more: object, flags = {}) => {
    const server = await serverWith(asked => [
      encodeMessage({
        ...message({ id: asked.message.id, question: asked.message.question, answer: [soa], ...more }),
        flags: { ...asked.message.flags, qr: true, aa: true, ...flags },
      }),
    ])
    return await askSoa(askedOf(server), 'example.')
  }

  test('tells the serial', async () => expect(await of({})).toEqual({ serial: 4294967295 }))
  const others: [string, object, object, number][] = [
    ['a refusal', { rcode: RCODE.REFUSED, answer: [] }, {}, RCODE.REFUSED],
    ['that of another zone', { answer: [{ ...soa, name: 'other.' }] }, {}, RCODE.NOERROR],
    ['a server that only remembers it', {}, { aa: false }, RCODE.NOERROR],
  ]
  test.each(others)('is not told by %s', async (_, more, flags, rcode) =>
    expect(await of(more, flags)).toEqual({ serial: null, rcode }),
  )

  test('of another form is no answer', async () => {
    await expect(of({ answer: [{ ...soa, rdata: soa.rdata.subarray(0, 30) }] })).rejects.toMatchObject({
      failure: 'invalid_answer',
    })
  })
})
