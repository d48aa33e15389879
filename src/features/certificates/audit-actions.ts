export const certificateActions = {
  'certificates.certificate.create': {
    description: 'A certificate was uploaded, or sent by a CT monitor.',
    example: { before: {}, after: { common_name: 'shop.example.com', not_after: '2027-02-08T00:00:00.000Z' } },
  },
  'certificates.certificate.update': { example: { before: { tags: [] }, after: { tags: ['shop'] } } },
  'certificates.certificate.delete': { description: 'A certificate was deleted from the inventory.' },
  'certificates.authority.create': { example: { before: {}, after: { name: 'Office CA', subject: 'CN=Example Root CA' } } },
}
