import { Type, type Static } from '@sinclair/typebox'
import { ListOf, Nullable, NullableInstant, Shape, Words } from '../../core/shapes'

const Days = (description: string) => Nullable(Type.Integer({ minimum: 0 }), { description })

const RegistrySource = Shape({
  kind: Words(['rdap', 'whois'], { description: 'Protocol.' }),
  host: Type.String({ description: 'Hostname of the server, with its port if it isn’t the default one.' }),
  origin: Words(['iana', 'extra', 'operator'], {
    description:
      'Why this server is used. `iana`: it is listed by IANA or, for WHOIS, known to Bailiwick. `extra`: RDAP servers that IANA doesn’t list. Their answers count ' +
      'only once they know the canary. `operator`: from `BAILIWICK_REGISTRY_FILE`.',
  }),
  state: Words(['unused', 'ok', 'failing', 'blocked'], {
    description:
      '`unused`: no query has been sent yet. `ok`: the last query was answered. `failing`: it wasn’t. `blocked`: no queries are sent until `blocked_until`, because the server refused ' +
      'them or failed several times in a row.',
  }),
  blocked_until: NullableInstant({ description: 'When the next query is sent, if the server is blocked.' }),
  last_ok_at: NullableInstant({ description: 'When the server last answered a query.' }),
  last_error: Nullable(Type.String(), { description: 'Why the last query failed; null if it was answered.' }),
  canary: Shape(
    {
      name: Type.String({ description: 'A name that is certainly registered.' }),
      ok_at: NullableInstant({
        description:
          'When the server last confirmed that it is registered; null if it has not been asked, or didn’t confirm it the last time.',
      }),
    },
    {
      description:
        'A name below the top-level domain that is certainly registered. It is queried once a day while names below the top-level domain are watched. If the server doesn’t know it, the ' +
        'absence of other names means nothing.',
    },
  ),
  pace: Shape(
    {
      seconds: Type.Number({ description: 'Seconds between queries.' }),
      burst: Type.Integer({ description: 'Number of queries that can be sent at once after a pause.' }),
      per_day: Type.Integer({ description: 'Maximum number of queries per day (UTC).' }),
      used_today: Type.Integer({ description: 'Number of queries today (UTC).' }),
    },
    { description: 'How fast all hubs together query the server. Top-level domains with the same server share it.' },
  ),
  stretched_by: Type.Number({
    description:
      'By which factor names are looked up less often than wanted, because the server would otherwise get more queries per day than `per_day`. Normally 1.',
  }),
})

const RegistryProfile = Shape({
  renewal_grace_days: Days('Days after the end in which the registrar can still renew the domain at the normal price.'),
  redemption_days: Days('Days after that in which the domain can only be restored, usually at a higher price.'),
  pending_delete_days: Days('Days after that until the domain becomes available to everyone.'),
  note: Nullable(Type.String(), { description: 'Other rules of the registry.' }),
  source: Type.String({ description: 'Where these periods are stated.' }),
})

export const Registry = Shape(
  {
    tld: Type.String({ description: 'Top-level domain, in A-labels.' }),
    unicode_tld: Type.String({ description: 'Top-level domain in Unicode.' }),
    watched_names: Type.Integer({
      minimum: 0,
      description:
        'Number of names below it that something in the installation wants to know about. Names used by several workspaces count once.',
    }),
    sources: Type.Array(RegistrySource, {
      description:
        'Servers that can be queried, the preferred one first. The next one is used while the servers before it are blocked.',
    }),
    profile: Nullable(RegistryProfile, {
      description:
        'What happens after a registration has ended: the days of each step, which is null if the registry doesn’t have it. Null if the rules are not known.',
    }),
  },
  {
    $id: 'Registry',
    description: 'The registry of a top-level domain: where facts about its names come from, and its rules.',
    examples: [
      {
        tld: 'com',
        unicode_tld: 'com',
        watched_names: 12,
        sources: [
          {
            kind: 'rdap',
            host: 'rdap.verisign.com',
            origin: 'iana',
            state: 'ok',
            blocked_until: null,
            last_ok_at: '2026-11-27T10:00:00.000Z',
            last_error: null,
            canary: { name: 'example.com', ok_at: '2026-11-27T04:00:00.000Z' },
            pace: { seconds: 2, burst: 3, per_day: 2000, used_today: 14 },
            stretched_by: 1,
          },
        ],
        profile: {
          renewal_grace_days: 45,
          redemption_days: 30,
          pending_delete_days: 5,
          note: 'Registrars may end the renewal grace period earlier.',
          source: 'RFC 3915; ICANN Expired Registration Recovery Policy',
        },
      },
    ],
  },
)

export const RegistryList = ListOf(Registry)

export const RegistryQuery = Shape({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Number of items per page.' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Cursor of the page to return: the `next_cursor` of the previous page. Default: the first page.',
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Only top-level domains that contain this text, in A-labels or in Unicode. A leading dot is ignored.',
    }),
  ),
  watched: Type.Optional(
    Type.Boolean({ description: 'Only top-level domains with watched names (`true`), or only those without (`false`).' }),
  ),
})

export type RegistryView = Static<typeof Registry>
export type RegistryQuery = Static<typeof RegistryQuery>
export type RegistrySourceView = RegistryView['sources'][number]
