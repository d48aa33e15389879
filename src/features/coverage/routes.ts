import { listQuery } from '../../core/list'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { Action } from '../actions/shapes'
import { coverageListing, listCertificateCoverage } from './coverage'
import { getCertificateSettings, updateCertificateSettings } from './settings'
import {
  acknowledgeCertificateGap,
  gapListing,
  getCertificateGap,
  listCertificateGaps,
  unacknowledgeCertificateGap,
} from './certificate-gaps'
import { issueForGap } from './issue-for-gap'
import { timelineOfGap } from './timeline'
import {
  CertificateCoverageList,
  CertificateGap,
  CertificateGapList,
  CertificateGapTimeline,
  CertificateSettings,
  CertificateSettingsPatch,
  GapAcknowledgement,
  GapIssue,
} from './shapes'

const cannotIssue = ['no_managed_zone', 'zone_not_writable', 'caa_forbids', 'rate_limited'] as const

export const coverageRoutes = area('certificate-gaps', 'Certificates', [
  route({
    method: 'GET',
    path: '/v1/certificate-settings',
    guard: 'certificates.read',
    operationId: 'getCertificateSettings',
    summary: 'Get the certificate settings',
    description: 'Returns which names of the workspace should have a certificate.',
    response: CertificateSettings,
    run: getCertificateSettings,
  }),
  route({
    method: 'PATCH',
    path: '/v1/certificate-settings',
    guard: 'certificates.write',
    action: 'certificates.settings.update',
    operationId: 'updateCertificateSettings',
    summary: 'Update the certificate settings',
    description: 'Updates the given settings. Gaps are opened and resolved accordingly within a minute.',
    body: CertificateSettingsPatch,
    response: CertificateSettings,
    run: (ctx, { body }) => updateCertificateSettings(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/certificates/coverage',
    guard: 'certificates.read',
    operationId: 'listCertificateCoverage',
    summary: 'List certificate coverage',
    description:
      'Lists the names that should have a certificate, with the valid certificate that covers each, as of the last evaluation. `PATCH /v1/certificate-settings` changes which names these are.',
    query: listQuery(coverageListing),
    response: CertificateCoverageList,
    run: (ctx, { query }) => listCertificateCoverage(ctx, query),
  }),
  ...crud({
    type: 'certificate_gap',
    response: CertificateGap,
    list: {
      description:
        'Lists the gaps of the workspace. They are evaluated every hour, and soon after scans, reports of agents, and changes of zones. Resolved gaps are deleted after 90 days.',
      listing: gapListing,
      response: CertificateGapList,
      run: listCertificateGaps,
    },
    get: { description: 'Returns a gap with its evidence.', run: getCertificateGap },
    verbs: {
      acknowledge: {
        description:
          'Accepts a gap until it is resolved, or until the given time. It opens again when the acknowledgement expires, or when it becomes more severe. Acknowledging it again replaces the acknowledgement.',
        body: GapAcknowledgement,
        problems: ['conflict'],
        run: acknowledgeCertificateGap,
      },
      issue: {
        summary: 'Issue a certificate for a certificate gap',
        description:
          'Starts an action that issues a certificate for the name of the gap, and for further names. The managed certificate with exactly these names is renewed with the given ACME account; if there is none, it is created. ' +
          'The gap is resolved when the certificate has been installed and a scan finds it. Only for gaps that are `issuable`. Limited to 30 requests a minute per workspace, together with other requests for certificates.',
        body: GapIssue,
        status: 202,
        response: Action,
        collection: '/v1/actions',
        problems: [
          ...(['conflict', 'plan_limit_reached', 'issued_recently', 'precondition_failed', 'resource_locked'] as const),
          ...cannotIssue,
        ],
        run: issueForGap,
      },
      unacknowledge: {
        description: 'Removes the acknowledgement of a gap, which is open again.',
        problems: ['conflict'],
        run: unacknowledgeCertificateGap,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/certificate-gaps/:id/timeline',
    guard: 'certificates.read',
    operationId: 'getCertificateGapTimeline',
    summary: 'Get the timeline of a certificate gap',
    description:
      'Returns what happened to a gap, oldest entry first: the latest 50 changes of its status, and the latest 50 certificates that were requested for it.',
    response: CertificateGapTimeline,
    run: (ctx, { params }) => timelineOfGap(ctx, params.id!),
  }),
])
