import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { Action } from '../../actions/shapes'
import {
  createManagedCertificate,
  deleteManagedCertificate,
  downloadManagedCertificate,
  getManagedCertificate,
  listManagedCertificates,
  managedCertificateListing,
  pauseManagedCertificate,
  renewManagedCertificate,
  resumeManagedCertificate,
  revokeManagedCertificate,
  updateManagedCertificate,
} from './managed-certificates'
import {
  ManagedCertificate,
  ManagedCertificateDownload,
  ManagedCertificateInput,
  ManagedCertificateList,
  ManagedCertificatePatch,
  ManagedCertificateRenewal,
  ManagedCertificateRevocation,
} from './shapes'

const cannotIssue = ['no_managed_zone', 'zone_not_writable', 'caa_forbids', 'rate_limited'] as const

export const managedCertificateRoutes = area(
  'managed-certificates',
  'Certificates',
  crud({
    type: 'managed_certificate',
    response: ManagedCertificate,
    list: {
      description: 'Lists the managed certificates.',
      listing: managedCertificateListing,
      response: ManagedCertificateList,
      run: listManagedCertificates,
    },
    create: {
      description:
        'Creates a managed certificate, and starts an action that issues it; its ID is in `action_id`. The names are validated by TXT records in your DNS ' +
        'zones, which are removed afterwards. By default, the certificate is renewed before it expires. With the key mode `agent`, the agent of a server creates the key and installs the certificate. Limited to 30 requests a minute per workspace, together with renewals.',
      body: ManagedCertificateInput,
      problems: ['plan_limit_reached', 'conflict', 'already_exists', 'private_key_refused', ...cannotIssue],
      run: createManagedCertificate,
    },
    get: { description: 'Returns a managed certificate, without its private key.', run: getManagedCertificate },
    update: {
      description: 'Updates the given fields. A new ACME account or certificate request is used from the next certificate on.',
      body: ManagedCertificatePatch,
      problems: ['conflict', 'private_key_refused'],
      run: updateManagedCertificate,
    },
    delete: {
      description:
        'Deletes a managed certificate with its private key, and cancels the action that issues it. The certificate is no longer renewed. It stays valid until it expires; revoke it first to prevent that. What an agent installed stays on the server.',
      problems: ['conflict'],
      run: deleteManagedCertificate,
    },
    verbs: {
      renew: {
        description:
          'Starts an action that renews the certificate, or issues it after failed attempts. A certificate that an agent still has to install is only installed, unless `force` is set. If a certificate with these names was issued within the last 24 hours, `force` is required.',
        body: ManagedCertificateRenewal,
        status: 202,
        response: Action,
        collection: '/v1/actions',
        problems: ['issued_recently', 'precondition_failed', 'resource_locked', ...cannotIssue],
        run: renewManagedCertificate,
      },
      revoke: {
        description:
          'Starts an action that revokes the current certificate with the ACME account. This can’t be undone. It is no longer renewed automatically, but can be renewed manually.',
        body: ManagedCertificateRevocation,
        status: 202,
        response: Action,
        collection: '/v1/actions',
        problems: ['conflict', 'precondition_failed', 'resource_locked'],
        run: revokeManagedCertificate,
      },
      download: {
        description:
          'Returns the certificate with its private key. With the key retention `once`, the private key is destroyed by this request, so it can be ' +
          'downloaded only once; further requests are rejected with 410 `key_gone`. If the request is replayed, the private key is not included.',
        response: ManagedCertificateDownload,
        secretFields: ['private_key'],
        problems: ['conflict', 'key_gone', 'precondition_failed'],
        run: downloadManagedCertificate,
      },
      pause: {
        description: 'Pauses automatic renewals and retries. You can still renew it manually.',
        problems: ['precondition_failed'],
        run: pauseManagedCertificate,
      },
      resume: {
        description: 'Resumes automatic renewals and retries. What is due starts within a minute.',
        problems: ['precondition_failed'],
        run: resumeManagedCertificate,
      },
    },
  }),
)
