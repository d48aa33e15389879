import { extensionKind } from '../../core/event-kinds'
import { At, IdOf, Text } from '../../core/event-fields'
import { Shape, Words } from '../../core/shapes'
import { gapKindNames, gapSeverities } from './kinds'

export const gapEventKinds = [
  extensionKind({
    kind: 'certificate.gap_changed',
    area: 'certificates',
    title: 'Certificate gap changed',
    description: 'A gap was opened, acknowledged, or resolved. One that came back is opened again with the same ID.',
    data: Shape({
      gap: Shape(
        {
          id: IdOf('cgap', 'ID of the gap.'),
          kind: Words(gapKindNames, { description: 'What is wrong.' }),
          severity: Words(gapSeverities, { description: 'Severity.' }),
          name: Text('Name that it is about.'),
          detail: Text('What was found, as a sentence.'),
        },
        { description: 'The gap.' },
      ),
      status: Words(['opened', 'acknowledged', 'resolved'], { description: 'What happened.' }),
      changed_at: At('When it happened.'),
    }),
    example: {
      gap: {
        id: 'cgap_01k3zc1d3e5f7g9h1j3k5m7n9p',
        kind: 'expired_served',
        severity: 'critical',
        name: 'shop.example.com',
        detail: 'shop.example.com:443 serves a certificate that expired on 2026-11-30.',
      },
      status: 'opened',
      changed_at: '2026-11-30T00:10:00.000Z',
    },
  }),
] as const
