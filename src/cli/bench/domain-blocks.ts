import { json, type Operation } from './client'

const imported = 10_000
const invalidEvery = 33
const bulkSize = 500

/** Large requests for domains and contacts. */
export function domainOperations(): Operation[] {
  const repeated = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n))
  // No server is known for .es, so nothing is asked.
  const line = (n: number) =>
    n % invalidEvery === 0 ? `bad..name-${n}` : `block-${n}.es,2027-${String((n % 12) + 1).padStart(2, '0')}-15`
  const file = { text: `name,expires_at\n${repeated(imported, line).join('\n')}\n`, type: 'text/csv' }
  const contact = (n: number) => ({
    op: 'create',
    body: {
      ...{ label: `Contact ${n}`, type: 'individual', first_name: 'Ada', last_name: 'Example', email: 'ada@example.com' },
      ...{ phone: '+33123456789', address: ['5 Example Street'], city: 'Paris', postal_code: '75001', country: 'FR' },
    },
  })
  const path = '/v1/domains/import'
  return [
    { name: `import of ${imported} domains`, method: 'POST', path, body: file },
    { name: `import of ${imported} domains that exist`, method: 'POST', path, body: file },
    { name: 'list of 100 domains by their end', method: 'GET', path: '/v1/domains?sort=expires_at&limit=100' },
    { name: `export of ${imported} domains`, method: 'GET', path: '/v1/domains/export' },
    {
      name: `bulk of ${bulkSize} contacts`,
      method: 'POST',
      path: '/v1/contacts/bulk',
      body: json({ operations: repeated(bulkSize, contact) }),
    },
  ]
}
