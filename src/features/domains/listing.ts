import { listingOf } from '../../core/list'
import { containsFilter, dayFilters, flagFilter, idsFilter, searchFilter, textFilter, wordsFilter } from '../../core/list-filters'
import { Tag } from '../../core/shapes'
import { unknownEnd } from './derive'
import { delegationStates, domainStatuses, managements, syncStates } from './statuses'
import { domains } from './tables'

export const domainListing = listingOf('domains', domains, {
  filters: {
    ids: idsFilter(domains.id),
    name: textFilter(domains.name, 'Only the domain with this name, in A-labels.', { maxLength: 255 }),
    tld: textFilter(domains.tld, 'Only domains below this top-level domain, in A-labels.', { maxLength: 63 }),
    status: wordsFilter(domains.status, domainStatuses, 'Only domains with these statuses.'),
    registrar_account_id: textFilter(domains.registrarAccountId, 'Only domains of this registrar account.', { maxLength: 40 }),
    management: wordsFilter(domains.management, managements, 'Only domains with this `management`.'),
    auto_renew: flagFilter(
      domains.autoRenew,
      'True for domains that are renewed automatically, false for those that are not. Domains for which that is not known are in neither list.',
    ),
    delegation: wordsFilter(domains.delegationState, delegationStates, 'Only domains with these `delegation.state`.'),
    sync_state: wordsFilter(domains.syncState, syncStates, 'Only domains with these `sync.state`.'),
    tag: containsFilter(domains.tags, { ...Tag, description: 'Only domains with this tag.' }),
    q: searchFilter([domains.name, domains.unicodeName], 'Only domains whose name contains all words of this text.'),
    ...dayFilters('expires_at', domains.expiresOrder, unknownEnd),
  },
  sorts: { name: domains.name, expires_at: domains.expiresOrder, created_at: domains.createdAt },
})
