import { area, route } from '../../../api/route'
import { lintZone, maxLintedRecords } from './lint'
import { ZoneLint } from './shapes'

export const dnsLintRoutes = area('dns-lint', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/lint',
    guard: 'dns.read',
    operationId: 'lintZone',
    summary: 'Lint a zone',
    description:
      'Reports settings that are valid but usually a mistake. Checks only the zone’s own data; no DNS queries are sent. ' +
      `A zone with more than ${maxLintedRecords.toLocaleString('en')} records is rejected (409).`,
    response: ZoneLint,
    problems: ['conflict'],
    run: (ctx, { params, request }) => lintZone(ctx, params.id!, request.signal),
  }),
])
