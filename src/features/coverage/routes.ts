import { listQuery } from '../../core/list'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { coverageListing, listCertificateCoverage } from './coverage'
import { getCertificateSettings, updateCertificateSettings } from './settings'
import {
  acknowledgeCertificateGap,
  gapListing,
  getCertificateGap,
  listCertificateGaps,
  unacknowledgeCertificateGap,
} from './certificate-gaps'
import {
  CertificateCoverageList,
  CertificateGap,
  CertificateGapList,
  CertificateSettings,
  CertificateSettingsPatch,
  GapAcknowledgement,
} from './shapes'

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
      'Lists the names that should have a certificate, with the valid certificate that covers each, as they were last worked out. `PATCH /v1/certificate-settings` changes which names these are.',
    query: listQuery(coverageListing),
    response: CertificateCoverageList,
    run: (ctx, { query }) => listCertificateCoverage(ctx, query),
  }),
  ...crud({
    type: 'certificate_gap',
    response: CertificateGap,
    list: {
      description:
        'Lists the gaps of the workspace. They are worked out every hour, and soon after scans, reports of agents, and changes of zones. Resolved gaps are deleted after 90 days.',
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
      unacknowledge: {
        description: 'Removes the acknowledgement of a gap, which is open again.',
        problems: ['conflict'],
        run: unacknowledgeCertificateGap,
      },
    },
  }),
])
