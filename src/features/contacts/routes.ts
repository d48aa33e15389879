import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import {
  contactListing,
  contactOptions,
  createContact,
  deleteContact,
  getContact,
  getContactRequirements,
  listContacts,
  updateContact,
} from './contacts'
import {
  Contact,
  ContactInput,
  ContactList,
  ContactOptions,
  ContactPatch,
  ContactRequirements,
  RequirementsQuery,
} from './shapes'

export const contactRoutes = area('contacts', 'Domains', [
  ...crud({
    type: 'contact',
    response: Contact,
    writes: { sealsReplays: true },
    list: {
      description: 'Lists the contacts of the workspace, with their personal data.',
      listing: contactListing,
      response: ContactList,
      run: listContacts,
    },
    create: {
      description:
        'Creates a contact. Everything but its label, country, and tags is stored encrypted, and is not part of the audit log or of ' +
        'events. A workspace can have up to 1,000 contacts (409).',
      body: ContactInput,
      problems: ['conflict'],
      run: createContact,
    },
    get: { description: 'Returns a contact with its personal data.', run: getContact },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396). The audit log records which fields changed, but not their values.',
      body: ContactPatch,
      run: updateContact,
    },
    delete: { description: 'Deletes a contact with its personal data.', run: deleteContact },
    bulk: 'Creates, updates, and deletes many contacts in one request.',
  }),
  route({
    method: 'GET',
    path: '/v1/contacts/options',
    guard: 'domains.read',
    restrictedTokens: 'all',
    operationId: 'getContactOptions',
    summary: 'Get the options of contacts',
    description: 'Returns what a form for contacts needs: the countries, and the schema of `fields`.',
    response: ContactOptions,
    run: async () => contactOptions(),
  }),
  route({
    method: 'GET',
    path: '/v1/contacts/:id/requirements',
    guard: 'domains.read',
    operationId: 'getContactRequirements',
    summary: 'Check a contact against a top-level domain',
    description:
      'Returns what the contact lacks to register domains of a top-level domain through a kind of registrar. For a top-level domain ' +
      'without known requirements, only those of the registrar are checked. The registry has the last word.',
    query: RequirementsQuery,
    response: ContactRequirements,
    run: (ctx, { params, query }) => getContactRequirements(ctx, params.id!, query),
  }),
])
