import { expect, test } from 'bun:test'
import { addressInPrefix, networkOf, readAddress } from '../../src/features/dynamic-ips/addresses'
import { generator } from '../support/random'

// Compares the arithmetic of prefixes and suffixes with the module `ipaddress` of Python.

const cases = 5_000
const random = generator(7)

const python = `
import ipaddress, json, sys
def one(address, length, suffix):
    network = ipaddress.ip_network((int(ipaddress.IPv6Address(address)), length), strict=False)
    low = int(ipaddress.IPv6Address(suffix))
    fits = low < network.num_addresses
    mac = ipaddress.IPv6Address(suffix).packed[-6:]
    eui = bytes([mac[0] ^ 2]) + mac[1:3] + b"\\xff\\xfe" + mac[3:]
    return [
        f"{int(network.network_address):x}/{length}",
        f"{int(network.network_address) | low:x}" if fits else None,
        f"{int(network.network_address) | int.from_bytes(eui, 'big'):x}",
    ]
print(json.dumps([one(*case) for case in json.load(sys.stdin)]))
`

const group = () => (random(3) === 0 ? 0 : random(0x10000)).toString(16)
// Mostly global addresses, in all notations.
const address = () => `2${random(0x1000).toString(16).padStart(3, '0')}:${Array.from({ length: 7 }, group).join(':')}`
const suffix = () => {
  const groups = random(5)
  return groups === 0 ? '::1' : `::${Array.from({ length: groups }, group).join(':')}`
}
const asked = Array.from({ length: cases }, (): [string, number, string] => [address(), 48 + random(17), suffix()])

/** The value of an address in hexadecimal, computed without the code under test. */
function hex(text: string): string {
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const missing = 8 - groups(head).length - groups(tail ?? '').length
  const all = tail === undefined ? groups(head) : [...groups(head), ...Array(missing).fill('0'), ...groups(tail)]
  return BigInt(`0x${all.map(one => one.padStart(4, '0')).join('')}`).toString(16)
}

test('prefixes and suffixes are computed as by Python', async () => {
  const run = Bun.spawn(['python3', '-c', python], { stdin: new Blob([JSON.stringify(asked)]), stdout: 'pipe' })
  const expected = (await new Response(run.stdout).json()) as [string, string | null, string][]
  expect(await run.exited).toBe(0)
  const wrong = asked.flatMap(([from, length, low], at) => {
    const network = networkOf(from, length)
    const [base = ''] = network.split('/')
    const combined = addressInPrefix(network, low)
    const mac = hex(low).padStart(32, '0').slice(-12).match(/../g)!.join(':')
    const read = readAddress(`${from}/${length}`)
    const ours = [`${hex(base)}/${length}`, combined && hex(combined), hex(addressInPrefix(network, mac)!)]
    const isRead = read.kind === 'prefix' && read.prefix === network
    return isRead && Bun.deepEquals(ours, expected[at]) ? [] : [{ from, length, low, ours, expected: expected[at] }]
  })
  expect(wrong.slice(0, 5)).toEqual([])
  expect(expected).toHaveLength(cases)
})
