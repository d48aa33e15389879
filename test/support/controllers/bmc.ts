import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/** How a simulated BMC differs from one that works. */
interface BmcFaults {
  /** Packets to send instead of a response. `earlier`: responses that were sent before. */
  sent: (response: Buffer, earlier: readonly Buffer[]) => readonly Uint8Array[]
  /** Completion code of a chassis control; 0 if it is carried out. */
  completion: (control: number) => number
  /** Requests that are ignored: `capabilities`, `open`, `rakp1`, `rakp3`, `command`. */
  ignored: (request: string) => boolean
  /** Status of a response of session setup. */
  status: (request: string) => number
}

interface Session {
  suite: 3 | 17
  consoleId: Buffer
  id: Buffer
  consoleRandom: Buffer
  random: Buffer
  role: number
  user: Buffer
  key: Buffer
  k1: Buffer
  k2: Buffer
  sequence: number
  /** Sequence numbers of received packets. */
  received: Set<number>
}

/** A BMC on a local UDP port that speaks IPMI 2.0 with cipher suites 3 and 17. */
export class BmcDouble implements BmcFaults {
  users: Record<string, { password: string; privilege: number }> = {
    bailiwick: { password: 'changeme-bmc-20bytes', privilege: 3 },
  }
  suites: readonly number[] = [3, 17]
  power: 'on' | 'off' = 'off'
  /** Chassis controls that were received, in order. */
  readonly controls: number[] = []
  /** Packets that were received. */
  readonly packets: Buffer[] = []
  /** Sessions that are open. */
  readonly sessions = new Map<string, Session>()
  sent: BmcFaults['sent'] = response => [response]
  completion: BmcFaults['completion'] = () => 0
  ignored: BmcFaults['ignored'] = () => false
  status: BmcFaults['status'] = () => 0
  readonly #guid = randomBytes(16)
  readonly #earlier: Buffer[] = []
  #socket!: Bun.udp.Socket<'buffer'>

  get port(): number {
    return this.#socket.port
  }

  /** @param port a free one by default */
  async start(port = 0): Promise<this> {
    this.#socket = await Bun.udpSocket({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (socket, octets, from, address) => {
          const packet = Buffer.from(octets)
          this.packets.push(packet)
          const response = this.#answer(packet)
          if (!response) return
          for (const one of this.sent(response, this.#earlier)) send(() => socket.send(one, from, address))
          this.#earlier.push(response)
        },
        error() {},
      },
    })
    return this
  }

  stop(): void {
    this.#socket.close()
  }

  #answer(packet: Buffer): Buffer | null {
    if (packet[4] === 0) return this.ignored('capabilities') ? null : capabilities(packet)
    const payload = packet.subarray(16)
    switch (packet[5]) {
      case 0x10:
        return this.#setup('open', 0x11, payload, () => this.#opened(payload))
      case 0x12:
        return this.#setup('rakp1', 0x13, payload, () => this.#identified(payload))
      case 0x14:
        return this.#setup('rakp3', 0x15, payload, () => this.#agreed(payload))
      case 0xc0:
        return this.ignored('command') ? null : this.#sealed(packet)
      default:
        return null
    }
  }

  #setup(request: string, type: number, payload: Buffer, answer: () => Buffer | number): Buffer | null {
    if (this.ignored(request)) return null
    const forced = this.status(request)
    const found = forced === 0 ? answer() : forced
    const consoleId = request === 'open' ? payload.subarray(4, 8) : this.#of(payload)!.consoleId
    const status = typeof found === 'number' ? found : 0
    const head = Buffer.concat([Buffer.from([payload[0]!, status, 0, 0]), consoleId])
    const body = typeof found === 'number' ? head : Buffer.concat([head, found])
    return Buffer.concat([Buffer.from([6, 0, 255, 7, 6, type, 0, 0, 0, 0, 0, 0, 0, 0, body.length, 0]), body])
  }

  #of = (payload: Buffer): Session | undefined => this.sessions.get(payload.subarray(4, 8).toString('hex'))

  #opened(payload: Buffer): Buffer | number {
    const [authentication, integrity, confidentiality] = [payload[12], payload[20], payload[28]]
    const suite = authentication === 3 && integrity === 4 ? 17 : 3
    if (!this.suites.includes(suite) || confidentiality !== 1) return 0x11
    const id = randomBytes(4)
    const none = Buffer.alloc(0)
    this.sessions.set(id.toString('hex'), {
      suite,
      id,
      consoleId: Buffer.from(payload.subarray(4, 8)),
      consoleRandom: none,
      random: none,
      role: 0,
      user: none,
      key: none,
      k1: none,
      k2: none,
      sequence: 0,
      received: new Set(),
    })
    return Buffer.concat([id, payload.subarray(8, 32)])
  }

  #identified(payload: Buffer): Buffer | number {
    const session = this.#of(payload)!
    session.consoleRandom = Buffer.from(payload.subarray(8, 24))
    session.role = payload[24]!
    session.user = Buffer.from(payload.subarray(28, 28 + payload[27]!))
    session.random = randomBytes(16)
    const user = this.users[session.user.toString()]
    if (!user) return 0x0d
    if ((session.role & 15) > user.privilege) return 0x0a
    session.key = Buffer.alloc(20)
    session.key.write(user.password)
    const { consoleId, id, consoleRandom, random } = session
    const code = mac(session, session.key, consoleId, id, consoleRandom, random, this.#guid, nameOf(session))
    return Buffer.concat([random, this.#guid, code])
  }

  #agreed(payload: Buffer): Buffer | number {
    const session = this.#of(payload)!
    const { key, random, consoleId, consoleRandom, id } = session
    if (!mac(session, key, random, consoleId, nameOf(session)).equals(payload.subarray(8))) return 0x0f
    const sik = mac(session, key, consoleRandom, random, nameOf(session))
    session.k1 = mac(session, sik, Buffer.alloc(20, 1))
    session.k2 = mac(session, sik, Buffer.alloc(20, 2)).subarray(0, 16)
    return short(session, mac(session, sik, consoleRandom, id, this.#guid))
  }

  #sealed(packet: Buffer): Buffer | null {
    const session = this.sessions.get(packet.subarray(6, 10).toString('hex'))
    if (!session) return null
    const length = session.suite === 17 ? 16 : 12
    const code = short(session, mac(session, session.k1, packet.subarray(4, -length)))
    const sequence = packet.readUInt32LE(10)
    if (!code.equals(packet.subarray(-length)) || session.received.has(sequence)) return null
    session.received.add(sequence)
    const encrypted = packet.subarray(16, 16 + packet.readUInt16LE(14))
    const decipher = createDecipheriv('aes-128-cbc', session.k2, encrypted.subarray(0, 16)).setAutoPadding(false)
    const plain = Buffer.concat([decipher.update(encrypted.subarray(16)), decipher.final()])
    const request = plain.subarray(0, plain.length - 1 - plain.at(-1)!)
    return this.#response(session, reply(request, this.#carriedOut(session, request)))
  }

  /** The completion code and the data. */
  #carriedOut(session: Session, request: Buffer): number[] {
    const [netFn, command, first] = [request[1]! >> 2, request[5]!, request[6]!]
    if (netFn === 6 && command === 0x3b) return [0, first]
    if (netFn === 6 && command === 0x3c) {
      this.sessions.delete(session.id.toString('hex'))
      return [0]
    }
    if (netFn === 6 && command === 1) return [0, 0x20, 1, 0x82, 0x41, 0x02, 0x80, 0xa2, 0x02, 0x00, 0x00, 0x01]
    if (netFn === 0 && command === 1) return [0, this.power === 'on' ? 0x61 : 0x60, 0, 0]
    if (netFn === 0 && command === 2) {
      this.controls.push(first)
      const completion = this.completion(first)
      if (completion === 0) this.power = first === 0 || first === 5 ? 'off' : 'on'
      return [completion]
    }
    return [0xc1]
  }

  #response(session: Session, message: Buffer): Buffer {
    const trailing = 15 - (message.length % 16)
    const padding = Array.from({ length: trailing }, (_, at) => at + 1)
    const vector = randomBytes(16)
    const cipher = createCipheriv('aes-128-cbc', session.k2, vector).setAutoPadding(false)
    const payload = Buffer.concat([
      vector,
      cipher.update(Buffer.concat([message, Buffer.from([...padding, trailing])])),
      cipher.final(),
    ])
    const head = Buffer.alloc(12)
    head.set([6, 0xc0])
    session.consoleId.copy(head, 2)
    head.writeUInt32LE((session.sequence += 1), 6)
    head.writeUInt16LE(payload.length, 10)
    const fill = (4 - ((head.length + payload.length + 2) % 4)) % 4
    const body = Buffer.concat([head, payload, Buffer.alloc(fill, 0xff), Buffer.from([fill, 7])])
    return Buffer.concat([Buffer.from([6, 0, 255, 7]), body, short(session, mac(session, session.k1, body))])
  }
}

/** A send can fail because of an earlier one: its receiver has closed its socket. */
function send(once: () => boolean): void {
  try {
    if (!once()) once()
  } catch {
    once()
  }
}

const mac = ({ suite }: Session, key: Buffer, ...parts: Buffer[]): Buffer =>
  createHmac(suite === 17 ? 'sha256' : 'sha1', key)
    .update(Buffer.concat(parts))
    .digest()

const short = ({ suite }: Session, code: Buffer): Buffer => code.subarray(0, suite === 17 ? 16 : 12)

const nameOf = ({ role, user }: Session): Buffer => Buffer.concat([Buffer.from([role, user.length]), user])

function reply(request: Buffer, [completion, ...data]: number[]): Buffer {
  const sum = (octets: number[]) => (256 - (octets.reduce((a, b) => a + b, 0) & 255)) & 255
  const head = [request[3]!, (request[1]! & 0xfc) | 4]
  const body = [request[0]!, request[4]!, request[5]!, completion!, ...data]
  return Buffer.from([...head, sum(head), ...body, sum(body)])
}

function capabilities(packet: Buffer): Buffer {
  const message = reply(packet.subarray(14), [0, 1, 0x80, 0x04, 0x02, 0, 0, 0, 0])
  return Buffer.concat([Buffer.from([6, 0, 255, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, message.length]), message])
}
