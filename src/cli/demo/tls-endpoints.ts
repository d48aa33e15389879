import { domain } from './resolver'
import type { Scenario } from './scenario'
import { dayMs } from './time-units'

/** Schedules TLS endpoints of the sites, which are scanned every ten days. The internal CA becomes trusted after the first scans. */
export function scheduleTlsEndpoints({ simulation, people: { ada, grace }, servers: { ports, authority }, ago }: Scenario): void {
  simulation.schedule(ago(25), () =>
    ada.call('POST', '/v1/certificate-authorities', { name: 'Kestrel internal CA', pem: authority.cert }),
  )
  // All names of the zone lead to this machine, where the web server has another port than usual.
  simulation.schedule(ago(33), () => ada.call('PATCH', '/v1/certificate-settings', { ports: [ports.web] }))
  const sites = [
    { host: `shop.${domain}`, port: ports.web, tags: ['shop'] },
    { host: `api.${domain}`, port: ports.web, tags: ['shop'] },
    { host: `legacy.${domain}`, port: ports.legacy, tags: ['legacy'] },
    { host: `imap.${domain}`, port: ports.imap, protocol: 'imap', tags: ['mail'], active: false },
  ]
  for (const [at, site] of sites.entries())
    simulation.schedule(ago(31 - at), async () => {
      const { id } = await grace.call('POST', '/v1/tls-endpoints', site)
      for (const day of [20, 10, 1])
        simulation.schedule(ago(day) + (at * dayMs) / 10, () => grace.call('POST', `/v1/tls-endpoints/${id}/scan`))
    })
}
