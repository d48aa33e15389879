import { Type, type Static } from '@sinclair/typebox'
import { Instant, ListOf, Nullable, NullableInstant, Shape, SinglePageOf, Words } from '../../core/shapes'
import { domainStatuses, moveSources, readingSources } from './statuses'

const DomainMove = Shape(
  {
    id: Type.String({ description: 'ID of the change.' }),
    at: Instant({ description: 'When it was detected.' }),
    from: Words(domainStatuses, { description: 'Status before.' }),
    to: Words(domainStatuses, { description: 'Status after.' }),
    source: Words(moveSources, {
      description: 'What it follows from. `clock`: the end of the registration was reached. More values may be added.',
    }),
    irregular: Type.Boolean({ description: 'Whether statuses don’t usually follow each other in this order.' }),
  },
  {
    $id: 'DomainMove',
    description: 'A change of the status of a domain.',
    examples: [
      {
        id: 'dmv_01k3zc1d3e5f7g9h1j3k5m7n9p',
        at: '2027-04-02T10:11:30.000Z',
        from: 'active',
        to: 'expired',
        source: 'clock',
        irregular: false,
      },
    ],
  },
)
export const DomainMoveList = ListOf(DomainMove)
export type DomainMoveView = Static<typeof DomainMove>

const facts = Shape(
  {
    statuses: Type.Array(Type.String(), { description: 'Statuses in the words of RDAP (RFC 8056).' }),
    registered_at: NullableInstant({ description: 'When it was registered; null if that is not part of the answer.' }),
    expires_at: NullableInstant({ description: 'When the registration ends; null if that is not part of the answer.' }),
    registrar_expires_at: NullableInstant({
      description: 'When the registration ends according to the registrar; null if that is not part of the answer.',
    }),
    registrar: Nullable(Type.String(), { description: 'Name of the registrar; null if it is not part of the answer.' }),
    nameservers: Type.Array(Type.String(), { description: 'Name servers.' }),
  },
  { description: 'What the source said.' },
)

const DomainReading = Shape(
  {
    source: Words(readingSources, { description: 'Source.' }),
    at: Instant({ description: 'When it was last asked.' }),
    state: Words(['found', 'absent', 'unknown'], {
      description: '`found`: it knows the domain. `absent`: it certainly doesn’t. `unknown`: the answer doesn’t count.',
    }),
    facts: Nullable(facts, { description: 'What it said the last time that it knew the domain; null if it never did.' }),
    detail: Nullable(Type.String(), { description: 'Why the state isn’t `found`; null if it is.' }),
  },
  {
    $id: 'DomainReading',
    description: 'The last answer of a source about a domain.',
    examples: [
      {
        source: 'rdap',
        at: '2026-11-22T09:00:00.000Z',
        state: 'found',
        facts: {
          statuses: ['client transfer prohibited'],
          registered_at: '2019-04-02T10:11:12.000Z',
          expires_at: '2027-04-02T10:11:12.000Z',
          registrar_expires_at: null,
          registrar: 'Example Registrar',
          nameservers: ['ns1.example.net', 'ns2.example.net'],
        },
        detail: null,
      },
    ],
  },
)
export const DomainReadingList = SinglePageOf(DomainReading)
export type DomainReadingView = Static<typeof DomainReading>
