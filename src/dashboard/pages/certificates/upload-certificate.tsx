import type { CertificateView } from '../../../features/certificates/shapes'
import { TextareaField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { invalidates } from './certificate-text'

/** Uploads a certificate as PEM. */
export const uploadCertificate = (): void =>
  openForm<CertificateView>({
    title: 'Upload certificate',
    description: 'You are alerted before an uploaded certificate expires, until a newer one replaces it or you delete it.',
    wide: true,
    initial: { pem: '' },
    call: values => ({
      method: 'POST',
      path: '/certificates',
      body: values.pem as string,
      contentType: 'application/x-pem-file',
    }),
    send: { toast: 'Certificate added', invalidates },
    fields: (
      <TextareaField
        name="pem"
        label="Certificate"
        mono
        rows={12}
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="As PEM, with its issuers if you have them. Never paste the private key."
      />
    ),
  })
