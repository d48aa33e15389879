import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const example = { before: {}, after: { host: 'shop.example.com', port: 443, protocol: 'tls' } }

export const tlsEndpointActions = {
  'certificates.tls_endpoint.create': {
    description: 'A TLS endpoint was created, also because of a monitor.',
    channels: [...requestChannels, 'job'],
    changes: 'response',
    example,
  },
  'certificates.tls_endpoint.delete': {
    description: 'A TLS endpoint was deleted, also because its monitor was.',
    channels: [...requestChannels, 'job'],
  },
  'certificates.tls_endpoint.scan': {
    phrase: 'scan {tls_endpoint}',
    number: 'TE005',
    description: 'A scan of a TLS endpoint was started.',
  },
  'certificates.tls_endpoint.import': {
    phrase: 'import TLS endpoints',
    number: 'TE006',
    description: 'TLS endpoints were imported from a list. Each created endpoint has its own event.',
    targets: ['workspace'],
  },
  'certificates.tls_grade': {
    phrase: 'grade a TLS server',
    number: 'TE007',
    description: 'A request to grade a TLS server was denied. Successful ones change nothing and are not logged.',
    targets: [],
  },
} satisfies AuditActionDrafts
