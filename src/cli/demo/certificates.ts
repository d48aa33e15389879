import { createAuthority, type Authority } from '../certificate-authority'
import { domain } from './resolver'
import type { Scenario } from './scenario'
import { dayMs, minuteMs } from './time-units'

const pem = { 'content-type': 'application/x-pem-file' }

/** Schedules certificates: one that is renewed regularly, one whose renewal is overdue, one that expires soon, and one that only a CT log knows. */
export function scheduleCertificates({ simulation, people: { ada, linus }, now, ago }: Scenario): void {
  const office = createAuthority('Kestrel Office CA', now)
  const shared = createAuthority('Example Issuing CA 3', now)
  const upload = (at: number, by: Authority, names: [string, ...string[]], days: number, source = 'upload') =>
    simulation.schedule(at, () =>
      linus.call('POST', `/v1/certificates?source=${source}`, by.issue(names, at, at + days * dayMs).cert + by.cert, pem),
    )
  simulation.schedule(ago(88), () =>
    ada.call('POST', '/v1/certificate-authorities', { name: 'Kestrel Office CA', pem: office.cert }),
  )
  for (const days of [85, 54, 23]) upload(ago(days), shared, [`shop.${domain}`, `www.${domain}`], 47)
  // The last renewal is overdue, so that there is a gap for which a certificate can be issued.
  for (const days of [86, 63, 40]) upload(ago(days), shared, [`docs.${domain}`], 47)
  upload(ago(80), office, [`nas.office.${domain}`, '192.168.40.10'], 398)
  upload(ago(85), shared, [`legacy.${domain}`], 90)
  upload(ago(3) + 7 * minuteMs, shared, [`vpn.${domain}`], 90, 'ct')
}
