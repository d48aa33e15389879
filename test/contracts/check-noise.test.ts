import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { checkTypes } from '../../src/checks'
import { checkContext } from '../support/check-context'
import { checkSubjects } from '../support/check-subjects'
import { stopTalkers, talker } from '../support/talker'

afterAll(stopTalkers)

// Whatever a server sends, the check must report a failure of the server, never of itself.
const beginnings = [
  '',
  '220 ',
  '220-a\r\n220 b\r\n',
  '250-',
  '* OK\r\n',
  'a OK\r\n',
  '+OK\r\n',
  'SSH-2.0-x\r\n',
  'HTTP/1.1 101 x\r\n',
  '\r\n',
  'hello',
]
const noise = fc.array(
  fc.oneof(
    fc.constantFrom(...beginnings).map(text => Buffer.from(text)),
    fc.uint8Array({ maxLength: 40 }).map(octets => Buffer.from(octets)),
  ),
  { minLength: 1, maxLength: 6 },
)

test.each(checkTypes.filter(({ name }) => checkSubjects[name]!.transport === 'tcp').map(type => [type.name, type] as const))(
  '%s reports on the server, whatever it sends',
  async (_, type) => {
    let says: Buffer[] = []
    const port = await talker((socket: Socket) => {
      const [first, ...others] = says
      socket.write(first!)
      socket.on('data', () => {
        const next = others.shift()
        if (next) socket.write(next)
        else socket.end()
      })
      setTimeout(() => socket.end(), 30)
    })
    const { target, options } = checkSubjects[type.name]!.asking('a.test', port)
    await fc.assert(
      fc.asyncProperty(noise, async parts => {
        says = parts
        const facts = await type.run(type.target(target), options, checkContext({ withinMs: 3000 }))
        expect([facts.error?.kind, facts.connected]).toEqual([expect.not.stringMatching(/^(internal|unsupported)$/), true])
      }),
      { numRuns: 25 },
    )
  },
)
