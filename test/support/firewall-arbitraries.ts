import fc from 'fast-check'
import { ruleProtocols, type PlainRule } from '../../src/features/servers/firewalls/rules'

export const plain = (more: Partial<PlainRule> = {}): PlainRule => ({
  ...{ id: 'r1', direction: 'in', protocol: 'tcp', ports: ['443'], networks: ['0.0.0.0/0'] },
  ...more,
})

const portArbitrary = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 8 }))
  .map(([low, more]) => (more === 0 ? String(low) : `${low}-${low + more}`))
const networkArbitrary = fc.constantFrom('0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '192.0.2.7/32', '::/0', '2001:db8::/32')
const ruleArbitrary = fc
  .record({
    direction: fc.constantFrom('in' as const, 'in' as const, 'out' as const),
    protocol: fc.constantFrom(...ruleProtocols),
    ports: fc.uniqueArray(portArbitrary, { maxLength: 3 }),
    networks: fc.uniqueArray(networkArbitrary, { minLength: 1, maxLength: 3 }),
  })
  .map(one => plain({ ...one, ports: one.protocol === 'tcp' || one.protocol === 'udp' ? one.ports : [] }))
/** Rules of a few ports and networks, which often overlap. */
export const rulesArbitrary = fc.array(ruleArbitrary, { maxLength: 5 })
