import type { Scenario } from './scenario'

const company = {
  label: 'Kestrel Outdoor',
  type: 'company',
  first_name: 'Ada',
  last_name: 'Lindqvist',
  organization: 'Kestrel Outdoor GmbH',
  email: 'hostmaster@kestrel.example',
  phone: '+49 30 12345678',
  address: ['Hafenstraße 12'],
  postal_code: '10115',
  city: 'Berlin',
  country: 'DE',
  tags: ['production'],
}
const person = {
  label: 'Linus, private',
  type: 'individual',
  first_name: 'Linus',
  last_name: 'Hale',
  email: 'linus@kestrel.example',
  phone: '+1 202 555 0123',
  address: ['100 Example Avenue', 'Suite 4'],
  postal_code: '20001',
  city: 'Washington',
  state: 'DC',
  country: 'US',
  fields: { us_nexus: 'C11', us_purpose: 'P3' },
}

/** Schedules the contacts that domains are registered to, and a calendar feed. */
export function scheduleContacts({ simulation, people: { ada, linus }, ago }: Scenario): void {
  simulation.schedule(ago(50), () => ada.call('POST', '/v1/contacts', company))
  simulation.schedule(ago(20), () => linus.call('POST', '/v1/contacts', person))
  const include = ['domains', 'certificates', 'maintenance']
  simulation.schedule(ago(18), () => ada.call('POST', '/v1/calendar-feeds', { name: 'Operations', include }))
}
