/** The body of a request that creates a contact. */
export const contactInput = {
  label: 'Company',
  type: 'company',
  first_name: 'Ada',
  last_name: 'Example',
  organization: 'Example Ltd',
  email: 'hostmaster@example.com',
  phone: '+33 1 23 45 67 89',
  address: ['5 Example Street'],
  city: 'Paris',
  postal_code: '75001',
  country: 'FR',
}
