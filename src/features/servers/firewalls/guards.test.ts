import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { plain, rulesArbitrary } from '../../../../test/support/firewall-arbitraries'
import { guardReasons, type GuardedServer } from './guards'
import { passes, type PlainRule } from './rules'

describe('Guards', () => {
  const server = (
    before: PlainRule[] | null,
    after: PlainRule[] | null,
    monitors: GuardedServer['monitors'] = [],
    hub: GuardedServer['hub'] = null,
  ): GuardedServer => ({
    ...{ name: 'web-1', before, after, monitors, hub },
  })
  const codes = async (one: GuardedServer, caller: string | null = null) =>
    (await guardReasons([one], caller)).map(({ code }) => code)
  const ssh = plain({ ports: ['22'], networks: ['10.0.0.0/8'] })
  const web = plain()

  test('hold back what cuts or opens too much', async () => {
    expect(await codes(server([ssh, web], [web]))).toEqual(['cuts_ssh'])
    expect(await codes(server([ssh], [plain({ ports: ['20-30'], networks: ['192.0.2.7/32'] })]))).toEqual([])
    expect(await codes(server(null, [web]))).toEqual(['cuts_ssh'])
    expect(await codes(server([ssh, web], [ssh]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh, web], [ssh]))).toEqual([])
    expect(await codes(server([ssh], [ssh], [{ name: 'web', port: 443 }]))).toEqual([])
    expect(await codes(server([ssh, web], [ssh], [{ name: 'web', port: 443 }]))).toEqual(['cuts_monitors'])
    expect(await codes(server([ssh], [ssh, plain({ protocol: 'any', ports: [] })]))).toEqual(['opens_everything'])
    const out = plain({ direction: 'out', ports: ['443'], networks: ['192.0.2.0/24'] })
    const hub = { address: '192.0.2.5', port: 443 }
    const ofAgent = (before: PlainRule[], after: PlainRule[], at: GuardedServer['hub']) => codes(server(before, after, [], at))
    expect(await ofAgent([ssh], [ssh, out], hub)).toEqual([])
    expect(await ofAgent([ssh], [ssh, out], { ...hub, port: 8484 })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh], [ssh, out], { ...hub, address: '198.51.100.5' })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh], [ssh, out], { address: null, port: 443 })).toEqual([])
    expect(await ofAgent([ssh], [ssh, out], { address: null, port: 80 })).toEqual(['cuts_agent'])
    expect(await ofAgent([ssh, { ...out, ports: ['80'] }], [ssh, { ...out, ports: ['81'] }], hub)).toEqual([])
    expect(await codes(server([ssh], null))).toEqual(['opens_everything'])
    expect(await codes(server([ssh], [plain({ ports: ['1-6000'] })]))).toEqual(['opens_sensitive'])
    expect(await codes(server([ssh], [ssh, web]))).toEqual([])
    expect(await guardReasons([server([ssh], [plain({ ports: ['22'] })])], null)).toEqual([
      { code: 'opens_sensitive', detail: 'Everyone could connect to these sensitive ports: 22 of web-1.' },
    ])
  })

  test('the caller keeps its way if other rules cover all its ports', async () => {
    const wide = plain({ ports: ['80-90'] })
    expect(await codes(server([ssh, wide], [ssh, plain({ ports: ['80-85'] })]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh, wide], [ssh, plain({ ports: ['80-85', '86-90'] })]), '10.1.2.3')).toEqual([])
    expect(await codes(server(null, [ssh]), '10.1.2.3')).toEqual([])
    expect(await codes(server(null, [ssh]), '192.0.2.1')).toEqual(['cuts_caller'])
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
        const wasOpen = before.some(one => one.networks.includes('::/0')) || reaches(before, 22, '8.8.8.8')
        const opens = reaches(after, 22, '8.8.8.8') && !wasOpen
        if (opens) expect(found.some(one => one.startsWith('opens'))).toBe(true)
      }),
    )
  })

  test('blocks that leave no address of a rule cut it', async () => {
    const block = (...networks: string[]) => plain({ action: 'block', protocol: 'any', ports: [], networks })
    expect(await codes(server([ssh], [ssh, block('10.0.0.0/9')]), '10.200.2.3')).toEqual([])
    expect(await codes(server([ssh], [ssh, block('10.0.0.0/9')]), '10.1.2.3')).toEqual(['cuts_caller'])
    expect(await codes(server([ssh], [ssh, block('10.128.0.0/9', '10.0.0.0/9')]))).toEqual(['cuts_ssh'])
    const monitors = [{ name: 'web', port: 443 }]
    expect(await codes(server([ssh, web], [ssh, web, block('0.0.0.0/1', '128.0.0.0/1')], monitors))).toEqual([
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
