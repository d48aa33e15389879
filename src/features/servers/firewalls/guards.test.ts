import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { plain, rulesArbitrary } from '../../../../test/support/firewall-arbitraries'
import { guardReasons, type AddressFamily, type GuardedServer } from './guards'
import { passes, type PlainRule } from './rules'

describe('Guards', () => {
  const server = (
    before: PlainRule[] | null,
    after: PlainRule[] | null,
    { monitors = [], hub = null, families = [4, 6] }: Partial<GuardedServer> = {},
  ): GuardedServer => ({ name: 'web-1', before, after, families, monitors, hub })
  const codes = async (one: GuardedServer, caller: string | null = null) =>
    (await guardReasons([one], caller)).map(({ code }) => code)
  const ssh = plain({ ports: ['22'], networks: ['10.0.0.0/8'] })
  const web = plain()
  const monitors: GuardedServer['monitors'] = [{ name: 'web', port: 443, families: [4, 6] }]

  test('hold back what cuts or opens too much', async () => {
    expect(await codes(server([ssh, web], [web]))).toEqual(['cuts_ssh'])
    expect(await codes(server([ssh], [plain({ ports: ['20-30'], networks: ['192.0.2.7/32'] })]))).toEqual([])
    expect(await codes(server(null, [web]))).toEqual(['cuts_ssh'])
    expect(await codes(server([ssh, web], [ssh]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh, web], [ssh]))).toEqual([])
    expect(await codes(server([ssh], [ssh], { monitors }))).toEqual([])
    expect(await codes(server([ssh, web], [ssh], { monitors }))).toEqual(['cuts_monitors'])
    expect(await codes(server([ssh], [ssh, plain({ protocol: 'any', ports: [] })]))).toEqual(['opens_everything'])
    const out = plain({ direction: 'out', ports: ['443'], networks: ['192.0.2.0/24'] })
    const hub = { address: '192.0.2.5', port: 443 }
    const ofAgent = (before: PlainRule[], after: PlainRule[], at: GuardedServer['hub'], families?: AddressFamily[]) =>
      codes(server(before, after, { hub: at, families }))
    expect(await ofAgent([ssh], [ssh, out], hub)).toEqual([])
    expect(await ofAgent([ssh], [ssh, out], { ...hub, port: 8484 })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh], [ssh, out], { ...hub, address: '198.51.100.5' })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh], [ssh, out], { address: null, port: 443 })).toEqual([])
    expect(await ofAgent([ssh], [ssh, out], { address: null, port: 80 })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh], [ssh, out], { address: null, port: 443 }, [6])).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh, { ...out, ports: ['80'] }], [ssh, { ...out, ports: ['81'] }], hub)).toEqual([])
    expect(await codes(server([ssh], null))).toEqual(['opens_everything'])
    expect(await codes(server([ssh], [plain({ ports: ['1-6000'] })]))).toEqual(['opens_sensitive'])
    expect(await codes(server([ssh], [ssh, web]))).toEqual([])
    expect(await guardReasons([server([ssh], [plain({ ports: ['22'] })])], null)).toEqual([
      { code: 'opens_sensitive', detail: 'Everyone could connect to these sensitive ports: 22 of web-1 over IPv4.' },
    ])
  })

  test('the caller keeps its way if other rules cover all its ports', async () => {
    const wide = plain({ ports: ['80-90'] })
    expect(await codes(server([ssh, wide], [ssh, plain({ ports: ['80-85'] })]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh, wide], [ssh, plain({ ports: ['80-85', '86-90'] })]), '10.1.2.3')).toEqual([])
    expect(await codes(server(null, [ssh]), '10.1.2.3')).toEqual([])
    expect(await codes(server(null, [ssh]), '192.0.2.1')).toEqual(['cuts_caller'])
  })

  describe('look at each address family', () => {
    const [ipv4, ipv6] = ['0.0.0.0/0', '::/0']
    const to = (ports: string[], ...networks: string[]) => plain({ ports, networks })
    const details = async (one: GuardedServer) => (await guardReasons([one], null)).map(({ detail }) => detail)

    test('what opens one of them is held back', async () => {
      expect(await codes(server([ssh], [ssh, to(['22'], ipv6)]))).toEqual(['opens_sensitive'])
      expect(await codes(server([ssh], [ssh, to(['1-65535'], ipv6)]))).toEqual(['opens_everything'])
      expect(await details(server([to(['22'], ipv4)], [to(['22'], ipv4), to(['22', '5432'], ipv6)]))).toEqual([
        'Everyone could connect to these sensitive ports: 22 of web-1 over IPv6, 5432 of web-1 over IPv6.',
      ])
      expect(await details(server([ssh], [to(['22'], ipv4, ipv6)]))).toEqual([
        'Everyone could connect to these sensitive ports: 22 of web-1.',
      ])
      // The first family was open before.
      expect(await details(server([to([], ipv4)], [to([], ipv4, ipv6)]))).toEqual([
        'Everyone could connect to all ports of web-1 over IPv6.',
      ])
      expect(await codes(server([to([], ipv4)], null))).toEqual(['opens_everything'])
      // Neither family is open as a whole.
      expect(await codes(server([ssh], [to(['1-7000'], ipv4), to(['7001-65535'], ipv6)]))).toEqual(['opens_sensitive'])
    })

    test('the halves of a family are the whole of it', async () => {
      expect(await codes(server([ssh], [ssh, to(['22'], '::/1', '8000::/1')]))).toEqual(['opens_sensitive'])
      expect(await codes(server([ssh], [ssh, to([], '0.0.0.0/1', '128.0.0.0/1')]))).toEqual(['opens_everything'])
      expect(await codes(server([ssh], [ssh, to(['22'], '8000::/1')]))).toEqual([])
    })

    test('a way over the other one remains, if the server has it', async () => {
      const both = to(['22'], '10.0.0.0/8', '2001:db8::/32')
      const cut = (networks: string[], families?: AddressFamily[]) =>
        codes(server([both], [to(['22'], ...networks)], { families }))
      expect(await cut(['10.0.0.0/8'])).toEqual([])
      expect(await cut(['2001:db8::/32'])).toEqual([])
      expect(await cut(['10.0.0.0/8'], [6])).toEqual(['cuts_ssh'])
      expect(await cut(['10.0.0.0/8'], [4])).toEqual([])
      expect(await codes(server([ssh], [ssh], { families: [6] }))).toEqual([])
      expect(await codes(server([to(['22'], '2001:db8::/32')], [], { families: [4] }))).toEqual(['cuts_ssh'])
    })

    test('a monitor loses the family that it uses', async () => {
      const both = to(['443'], ipv4, ipv6)
      const lost = (families: AddressFamily[]) =>
        details(server([both], [to(['443'], ipv4)], { monitors: [{ name: 'web', port: 443, families }] }))
      expect([await lost([4]), await lost([6]), await lost([4, 6])]).toEqual([
        [],
        ['Monitors that are up would go down: “web” (port 443 of web-1 over IPv6).'],
        ['Monitors that are up would go down: “web” (port 443 of web-1 over IPv6).'],
      ])
    })
  })

  test('a change that allows nothing less cuts nobody', async () => {
    await fc.assert(
      fc.asyncProperty(rulesArbitrary, rulesArbitrary, async (before, more) => {
        const found = await codes(server(before, [...before, ...more]), '10.1.2.3')
        expect(found.filter(one => one.startsWith('cuts'))).toEqual([])
      }),
    )
  })

  test('agree with what packets pass', async () => {
    const reaches = (rules: PlainRule[], port: number, address: string) =>
      passes(rules, { direction: 'in', protocol: 'tcp', port, address })
    const caller = '10.1.2.3'
    const blocksArbitrary = fc.uniqueArray(fc.constantFrom('10.1.2.3/32', '10.0.0.0/9', '10.128.0.0/9', '192.0.2.0/24'))
    const setArbitrary = fc
      .tuple(rulesArbitrary, blocksArbitrary)
      .map(([rules, networks]) => [...rules, plain({ action: 'block', protocol: 'any', ports: [], networks })])
    await fc.assert(
      fc.asyncProperty(setArbitrary, setArbitrary, async (before, after) => {
        const found = await codes(server(before, after), caller)
        const ports = Array.from({ length: 70 }, (_, at) => at + 1)
        const loses = ports.some(port => reaches(before, port, caller) && !reaches(after, port, caller))
        if (loses) expect(found).toContain('cuts_caller')
        // Only rules for all addresses allow these.
        const opens = ['8.8.8.8', '2a00::1'].some(one => reaches(after, 22, one) && !reaches(before, 22, one))
        if (opens) expect(found.some(one => one.startsWith('opens'))).toBe(true)
      }),
    )
  })

  test('blocks that leave no address of a rule cut it', async () => {
    const block = (...networks: string[]) => plain({ action: 'block', protocol: 'any', ports: [], networks })
    expect(await codes(server([ssh], [ssh, block('10.0.0.0/9')]), '10.200.2.3')).toEqual([])
    expect(await codes(server([ssh], [ssh, block('10.0.0.0/9')]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh], [ssh, block('10.128.0.0/9', '10.0.0.0/9')]))).toEqual(['cuts_ssh'])
    expect(await codes(server([ssh, web], [ssh, web, block('0.0.0.0/1', '128.0.0.0/1')], { monitors }))).toEqual([
      'cuts_ssh',
      'cuts_monitors',
    ])
    expect(await codes(server([block('0.0.0.0/0'), plain({ ports: [] })], [plain({ ports: [] })]))).toEqual(['opens_everything'])
  })

  test('let other work run while they look at many servers', async () => {
    const firewalls = Array.from({ length: 12 }, (_, n) =>
      Array.from({ length: 50 }, (__, at) =>
        plain({ ports: [String(1000 + at)], networks: Array.from({ length: 20 }, (___, host) => `10.${n}.${at}.${host}/32`) }),
      ),
    )
    const servers = Array.from({ length: 200 }, (_, n) => {
      const own = [0, 1, 2, 3, 4].flatMap(at => firewalls[(n * 7 + at) % 12]!)
      return server([ssh, ...own], [ssh, ...own.slice(50)])
    })
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await guardReasons(servers, '10.1.2.3')
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
  })
})
