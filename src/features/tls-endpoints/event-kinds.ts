import { Type } from '@sinclair/typebox'
import { At, IdOf, Text, Texts } from '../../core/event-fields'
import { extensionKind } from '../../core/event-kinds'
import { Shape } from '../../core/shapes'

const Grade = (description: string) => Type.String({ minLength: 1, maxLength: 2, description })

export const tlsEndpointKinds = [
  extensionKind({
    kind: 'tls_endpoint.grade_changed',
    area: 'certificates',
    title: 'TLS grade changed',
    description: 'The grade of a TLS endpoint got worse, or it is A now and was not before.',
    data: Shape({
      endpoint: Shape(
        {
          id: IdOf('tls', 'ID of the endpoint.'),
          host: Text('Host.'),
          port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port.' }),
        },
        { description: 'The endpoint.' },
      ),
      grade: Grade('Current grade: `A+`, `A`, `A-`, `B` to `F`, `T` (not trusted), or `M` (for another name).'),
      previous_grade: Grade('Previous grade.'),
      reasons: Texts('Rules that the server violates, the most serious first.'),
      changed_at: At('When the change was found.'),
    }),
    example: {
      endpoint: { id: 'tls_01k3zc1d3e5f7g9h1j3k5m7n9p', host: 'shop.example.com', port: 443 },
      grade: 'B',
      previous_grade: 'A-',
      reasons: ['chain_incomplete', 'no_tls13'],
      changed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const
