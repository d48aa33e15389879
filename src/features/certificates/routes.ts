import { Type } from '@sinclair/typebox'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { Shape, Words } from '../../core/shapes'
import { authorityListing, createAuthority, deleteAuthority, getAuthority, listAuthorities } from './authorities'
import { CertificateAuthority, CertificateAuthorityInput, CertificateAuthorityList } from './authority-shapes'
import { examplePem } from './examples'
import {
  certificateChain,
  certificateListing,
  deleteCertificate,
  getCertificate,
  listCertificates,
  updateCertificate,
  uploadCertificate,
  wasKnown,
} from './inventory'
import { derType, maxUploadBytes, pemType } from './pem'
import { Certificate, CertificateList, CertificatePatch, chainFormats } from './shapes'

export const certificateRoutes = area('certificates', 'Certificates', [
  ...crud({
    type: 'certificate',
    response: Certificate,
    list: {
      description:
        'Lists the certificates of the inventory. Certificates of CAs that are only known as issuers of others are not listed; get them by the IDs in `chain`.',
      listing: certificateListing,
      response: CertificateList,
      run: listCertificates,
    },
    get: { description: 'Returns a certificate, with all its names and places.', run: getCertificate },
    update: {
      description: 'Updates the tags and notes.',
      body: CertificatePatch,
      run: updateCertificate,
    },
    delete: {
      description:
        'Deletes a certificate from the inventory. It is added again if it is seen again. A certificate that is still somewhere, or is the issuer of ' +
        'others, can’t be deleted (409).',
      problems: ['conflict'],
      run: deleteCertificate,
    },
  }),
  route({
    method: 'POST',
    path: '/v1/certificates',
    guard: 'certificates.write',
    action: 'certificates.certificate.create',
    operationId: 'createCertificate',
    summary: 'Upload a certificate',
    description:
      'Adds a certificate to the inventory: as PEM, with its issuers in any order, or as DER. Returns 200 if it is known already. An uploaded ' +
      'certificate counts as in use, so you are alerted before it expires, until a newer one of its lineage is in use or you delete it. ' +
      'With `source=ct`, it is stored as seen in a CT log; the handbook has a hook for certspotter. A body with a private key is refused ' +
      '(422 `private_key_refused`), and nothing of it is stored or logged.',
    query: Shape({
      source: Type.Optional(
        Words(['upload', 'ct'], { default: 'upload', description: '`ct`: the certificate or precertificate is from a CT log.' }),
      ),
    }),
    textBody: {
      types: { [pemType]: examplePem, [derType]: 'The certificate as DER.' },
      maxBytes: maxUploadBytes,
      description: 'A certificate as PEM or DER. At most 256 KiB and 100 certificates, each with at most 64 KiB.',
    },
    status: 201,
    otherStatus: { status: 200, applies: wasKnown },
    response: Certificate,
    problems: ['validation_failed', 'conflict', 'private_key_refused'],
    run: (ctx, { bytes, query }) => uploadCertificate(ctx, bytes, query.source ?? 'upload'),
  }),
  route({
    method: 'GET',
    path: '/v1/certificates/:id/chain',
    guard: 'certificates.read',
    operationId: 'getCertificateChain',
    summary: 'Download a certificate',
    description: 'Returns the certificate as PEM, followed by its issuers as far as they are known.',
    query: Shape({
      format: Type.Optional(
        Words(chainFormats, {
          default: 'chain',
          description: '`leaf`: only the certificate. `chain`: with its issuers, without the root. `full`: with the root.',
        }),
      ),
    }),
    streams: { [pemType]: examplePem },
    run: (ctx, { params, query }) => certificateChain(ctx, params.id!, query.format),
  }),
  ...crud({
    type: 'certificate_authority',
    response: CertificateAuthority,
    list: {
      description: 'Lists the certificate authorities that the workspace trusts in addition to the public ones.',
      operationId: 'listCertificateAuthorities',
      listing: authorityListing,
      response: CertificateAuthorityList,
      run: listAuthorities,
    },
    create: {
      description: 'Trusts a root certificate in this workspace. The trust of known certificates is updated in the background.',
      body: CertificateAuthorityInput,
      problems: ['already_exists', 'conflict', 'private_key_refused'],
      run: createAuthority,
    },
    get: { description: 'Returns a certificate authority.', run: getAuthority },
    delete: { description: 'Removes a certificate authority. Its certificates become untrusted.', run: deleteAuthority },
  }),
])
