import { At, CalendarDate, DomainName } from '../../core/event-fields'
import { coreKind } from '../../core/event-kinds'
import { Shape, Words } from '../../core/shapes'
import { domainStatuses } from './statuses'

/** "Expiring soon" is not a domain status, so the two kinds never report the same fact. */
export const domainKinds = [
  coreKind({
    kind: 'domain.expiring',
    area: 'domains',
    title: 'Domain expiring',
    description: 'A domain is about to expire. Sent once for each notice day of the domain.',
    data: Shape({ domain: DomainName, expires_at: CalendarDate('Expiration date of the registration (UTC).') }),
    example: { domain: 'example.com', expires_at: '2027-01-31' },
  }),
  coreKind({
    kind: 'domain.status_changed',
    area: 'domains',
    title: 'Domain status changed',
    description: 'The status of a domain changed, for example from expired to redemption.',
    data: Shape({
      domain: DomainName,
      status: Words(domainStatuses, { description: 'Current status. More values may be added.' }),
      previous_status: Words(domainStatuses, { description: 'Previous status.' }),
      changed_at: At('When the change was detected.'),
    }),
    example: { domain: 'example.com', status: 'redemption', previous_status: 'expired', changed_at: '2027-01-31T06:00:04.120Z' },
  }),
] as const
