import type { Caller } from './people'
import { dayMs, type Telling } from './telling'
import type { Zone } from './zones'

/** Plans whom else they want, and what machines call with. @returns the pipeline that deploys, and its token once it has one */
export function planAccess({ past, people: { ada, grace }, ago }: Telling, own: Zone): Caller & { token(): string } {
  let token = ''
  const inDays = (days: number) => new Date(past.clock.now() + days * dayMs).toISOString()
  const permissions = (...names: string[]) => ({ mode: 'scoped', permissions: names })
  past.plan(ago(74), async () => {
    const made = await ada.call('POST', '/v1/tokens', {
      name: 'deploy pipeline',
      ...permissions('dns.write', 'monitoring.write'),
    })
    token = made.token
  })
  past.plan(ago(61), () =>
    grace.call('POST', '/v1/tokens', { name: 'Grafana', mode: 'read_only', allowed_cidrs: ['10.20.0.0/16'] }),
  )
  past.plan(ago(25), () =>
    grace.call('POST', '/v1/tokens', { name: 'contractor', ...permissions('monitoring.read'), expires_at: inDays(30) }),
  )
  past.plan(ago(19), () =>
    grace.call('POST', '/v1/tokens', {
      name: 'certbot on edge-1',
      ...permissions('dns.read', 'dns.write'),
      resource_ids: [own.id],
    }),
  )
  past.plan(ago(12), async () => {
    const { id } = await ada.call('POST', '/v1/tokens', { name: 'laptop of Linus', mode: 'read_only' })
    past.plan(ago(9), () => ada.call('DELETE', `/v1/tokens/${id}`))
  })
  past.plan(ago(0.8), () => ada.call('POST', '/v1/invitations', { email: 'noor@kestrel.example', role: 'member' }))
  return {
    token: () => token,
    call: async (method, path, body) => (await past.call(method, path, { token }, body)).body,
  }
}
