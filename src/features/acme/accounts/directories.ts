/** A public certificate authority with ACME. */
interface Directory {
  kind: string
  title: string
  directory_url: string
  eab_required: boolean
  is_staging: boolean
  website: string
}

/** The certificate authorities that are offered in forms. Any other directory works too. */
export const acmeDirectories: readonly Directory[] = [
  {
    kind: 'letsencrypt',
    title: 'Let’s Encrypt',
    directory_url: 'https://acme-v02.api.letsencrypt.org/directory',
    eab_required: false,
    is_staging: false,
    website: 'https://letsencrypt.org',
  },
  {
    kind: 'letsencrypt_staging',
    title: 'Let’s Encrypt (staging)',
    directory_url: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    eab_required: false,
    is_staging: true,
    website: 'https://letsencrypt.org/docs/staging-environment/',
  },
  {
    kind: 'zerossl',
    title: 'ZeroSSL',
    directory_url: 'https://acme.zerossl.com/v2/DV90',
    eab_required: true,
    is_staging: false,
    website: 'https://zerossl.com',
  },
  {
    kind: 'google',
    title: 'Google Trust Services',
    directory_url: 'https://dv.acme-v02.api.pki.goog/directory',
    eab_required: true,
    is_staging: false,
    website: 'https://pki.goog',
  },
  {
    kind: 'google_staging',
    title: 'Google Trust Services (staging)',
    directory_url: 'https://dv.acme-v02.test-api.pki.goog/directory',
    eab_required: true,
    is_staging: true,
    website: 'https://pki.goog',
  },
]
