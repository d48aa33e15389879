import { Type } from '@sinclair/typebox'
import { At, DomainName, MaybeAt, MaybeText } from '../../core/event-fields'
import { coreKind } from '../../core/event-kinds'
import { Nullable, Shape, Words } from '../../core/shapes'

/** Drop catching: domains that someone else still owns. */
export const watchedDomainKinds = [
  coreKind({
    kind: 'watched_domain.dropping_soon',
    area: 'domains',
    title: 'Watched domain dropping soon',
    description:
      'A watched domain is about to drop. Sent when it enters pending delete, and again shortly before the drop window.',
    data: Shape({
      domain: DomainName,
      status: Words(['registered', 'expired', 'redemption', 'pending_delete'], { description: 'Registration status.' }),
      drops_at: At('Most likely time of the drop; see `confidence`.'),
      window_from: At('Earliest expected time of the drop.'),
      window_to: At('Latest expected time of the drop.'),
      confidence: Words(['low', 'medium', 'high', 'exact'], {
        description: 'Confidence in the window; `exact` if the registry or registrar publishes the time.',
      }),
    }),
    example: {
      domain: 'example.net',
      status: 'pending_delete',
      drops_at: '2027-02-06T18:30:00.000Z',
      window_from: '2027-02-06T18:00:00.000Z',
      window_to: '2027-02-06T20:00:00.000Z',
      confidence: 'high',
    },
  }),
  coreKind({
    kind: 'watched_domain.available',
    area: 'domains',
    title: 'Watched domain available',
    description:
      'A watched domain can be registered now. Availability is checked twice, and also by a registrar account if one can check it.',
    data: Shape({
      domain: DomainName,
      available_at: At('When the availability was confirmed.'),
      price: Nullable(
        Shape({
          amount: Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: 'Price of the first year, as a decimal number.' }),
          currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'Currency of the price, as an ISO 4217 code.' }),
        }),
        { description: 'Price at a registrar account; null if no account was queried.' },
      ),
    }),
    example: { domain: 'example.net', available_at: '2027-01-31T08:31:12.480Z', price: { amount: '10.44', currency: 'USD' } },
  }),
  coreKind({
    kind: 'watched_domain.registered',
    area: 'domains',
    title: 'Watched domain registered',
    description: 'A watched domain was registered again. Not sent for a renewal or restore by the previous owner.',
    data: Shape({
      domain: DomainName,
      registered_at: MaybeAt('Creation date at the registry; null if not published.'),
      registrar: MaybeText('Name of the registrar; null if unknown.'),
      registered_by: Words(['us', 'other'], {
        description: '`us`: it is in a registrar account of this workspace. `other`: someone else registered it.',
      }),
    }),
    example: {
      domain: 'example.net',
      registered_at: '2027-01-31T08:31:13.000Z',
      registrar: 'Example Registrar, Inc.',
      registered_by: 'other',
    },
  }),
] as const
