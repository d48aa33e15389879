import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../shapes'
import { contractKind } from './entry'
import { At, DomainName, MaybeAt, MaybeText, On } from './members'

const domainStatuses = [
  'pending_registration',
  'pending_transfer',
  'active',
  'suspended',
  'expired',
  'redemption',
  'pending_delete',
  'deleted',
  'transferred_out',
  'unknown',
] as const

/** Facts about a domain name stand in its status; "expiring soon" is no status, so the two kinds never tell one fact twice. */
export const domainKinds = [
  contractKind({
    kind: 'domain.expiring',
    area: 'domains',
    title: 'Domain expiring',
    description: 'A domain is about to expire. Sent once for each notice day of the domain; more is read with GET /v1/domains.',
    data: Shape({ domain: DomainName, expires_at: On('Date (UTC) on which the registration ends.') }),
    example: { domain: 'example.com', expires_at: '2027-01-31' },
  }),
  contractKind({
    kind: 'domain.status_changed',
    area: 'domains',
    title: 'Domain status changed',
    description: 'A domain moved from one status to another, such as from expired to redemption.',
    data: Shape({
      domain: DomainName,
      status: Words(domainStatuses, { description: 'The status it has now. Further words may be added.' }),
      previous_status: Words(domainStatuses, { description: 'The status it had before.' }),
      changed_at: At('When the change was noticed.'),
    }),
    example: { domain: 'example.com', status: 'redemption', previous_status: 'expired', changed_at: '2027-03-17T06:00:04.120Z' },
  }),
] as const

/** Drop-catch: the life of a name somebody else still holds. */
export const watchedDomainKinds = [
  contractKind({
    kind: 'watched_domain.dropping_soon',
    area: 'domains',
    title: 'Watched domain dropping soon',
    description: 'A watched domain is about to drop: on entering pending delete, and again shortly before the window.',
    data: Shape({
      domain: DomainName,
      status: Words(['registered', 'expired', 'redemption', 'pending_delete'], { description: 'Where the registration stands.' }),
      drops_at: At('Most likely time of the drop; how exact it is, `confidence` says.'),
      window_from: At('Earliest time at which it is expected to drop.'),
      window_to: At('Latest time at which it is expected to drop.'),
      confidence: Words(['low', 'medium', 'high', 'exact'], {
        description: 'How sure the window is: `exact` when the registry or registrar names the time.',
      }),
    }),
    example: {
      domain: 'example.net',
      status: 'pending_delete',
      drops_at: '2027-04-06T18:30:00.000Z',
      window_from: '2027-04-06T18:00:00.000Z',
      window_to: '2027-04-06T20:00:00.000Z',
      confidence: 'high',
    },
  }),
  contractKind({
    kind: 'watched_domain.available',
    area: 'domains',
    title: 'Watched domain available',
    description: 'A watched domain can be registered now: proved twice, and by a registrar account where one can check.',
    data: Shape({
      domain: DomainName,
      available_at: At('When the proof was complete.'),
      price: Nullable(
        Shape({
          amount: Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: 'Price of the first year, as a decimal.' }),
          currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 code.' }),
        }),
        { description: 'What a registrar account asks for it; null when none was asked.' },
      ),
    }),
    example: { domain: 'example.net', available_at: '2027-04-06T18:31:12.480Z', price: { amount: '10.44', currency: 'USD' } },
  }),
  contractKind({
    kind: 'watched_domain.registered',
    area: 'domains',
    title: 'Watched domain registered',
    description: 'A watched domain was registered anew. A renewal or restore by the holder before is not told.',
    data: Shape({
      domain: DomainName,
      registered_at: MaybeAt('Date of creation the registry gives; null when it hides it.'),
      registrar: MaybeText('Name of the registrar, where known.'),
      registered_by: Words(['us', 'other'], { description: '`us` when a registrar account of this workspace holds it.' }),
    }),
    example: {
      domain: 'example.net',
      registered_at: '2027-04-06T18:31:13.000Z',
      registrar: 'Example Registrar, Inc.',
      registered_by: 'other',
    },
  }),
] as const
