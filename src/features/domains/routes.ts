import { crud } from '../../api/crud'
import { area } from '../../api/route'
import { createDomain, deleteDomain, getDomain, listDomains, updateDomain } from './domains'
import { domainListing } from './listing'
import { Domain, DomainInput, DomainList, DomainPatch } from './shapes'

export const domainRoutes = area('domains', 'Domains', [
  ...crud({
    type: 'domain',
    response: Domain,
    list: {
      description: 'Lists the domains of the workspace. Sorted by `expires_at`, domains whose end is not known come last.',
      listing: domainListing,
      response: DomainList,
      run: listDomains,
    },
    create: {
      description:
        'Starts tracking a domain. Nothing is bought. Its registry is asked within seconds, and then once a day, more often when the end is near.',
      body: DomainInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createDomain,
    },
    get: { description: 'Returns a domain.', run: getDomain },
    update: {
      description: 'Updates the given fields. The registration itself is not affected.',
      body: DomainPatch,
      run: updateDomain,
    },
    delete: { description: 'Stops tracking a domain. Its registration is not affected.', run: deleteDomain },
    bulk: 'Creates, updates, and deletes many domains in one request. The registrations are not affected.',
  }),
])
