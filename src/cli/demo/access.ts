import type { Caller } from './people'
import type { Scenario } from './scenario'
import { dayMs } from './time-units'
import type { Zone } from './zones'

/** Schedules tokens and an invitation. @returns the deploy pipeline and its token, which exists once the simulation created it */
export function scheduleAccess({ simulation, people: { ada, grace }, ago }: Scenario, own: Zone): Caller & { token(): string } {
  let token = ''
  const inDays = (days: number) => new Date(simulation.clock.now() + days * dayMs).toISOString()
  const permissions = (...names: string[]) => ({ mode: 'scoped', permissions: names })
  simulation.schedule(ago(74), async () => {
    const created = await ada.call('POST', '/v1/tokens', {
      name: 'deploy pipeline',
      ...permissions('dns.write', 'monitoring.write'),
    })
    token = created.token
  })
  simulation.schedule(ago(61), () =>
    grace.call('POST', '/v1/tokens', { name: 'Grafana', mode: 'read_only', allowed_cidrs: ['10.20.0.0/16'] }),
  )
  simulation.schedule(ago(25), async () => {
    const contractor = await grace.call('POST', '/v1/tokens', {
      name: 'contractor',
      ...permissions('monitoring.read'),
      expires_at: inDays(30),
    })
    simulation.schedule(ago(3), () => simulation.call('GET', '/v1/monitors', contractor))
  })
  simulation.schedule(ago(19), async () => {
    const certbot = await grace.call('POST', '/v1/tokens', {
      name: 'certbot on edge-1',
      ...permissions('dns.read', 'dns.write'),
      resource_ids: [own.id],
    })
    simulation.schedule(ago(0.4), () => simulation.call('GET', `/v1/dns/zones/${own.id}`, certbot))
  })
  simulation.schedule(ago(12), async () => {
    const { id } = await ada.call('POST', '/v1/tokens', { name: 'laptop of Linus', mode: 'read_only' })
    simulation.schedule(ago(9), () => ada.call('DELETE', `/v1/tokens/${id}`))
  })
  simulation.schedule(ago(0.8), () => ada.call('POST', '/v1/invitations', { email: 'noor@kestrel.example', role: 'member' }))
  return {
    token: () => token,
    call: async (method, path, body) => (await simulation.call(method, path, { token }, body)).body,
  }
}
