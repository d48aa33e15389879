import { Type, type Static } from '@sinclair/typebox'
import { Shape, Words } from '../../../core/shapes'
import { rrsetName } from '../plans/op-shapes'
import { zoneExample } from '../zones/shapes'
import { lintRules, type LintRule } from './rules'

export const maxFindings = 1000

export const ZoneLint = Shape(
  {
    zone_id: Type.String({ description: 'ID of the zone.' }),
    serial: Type.Integer({ description: 'Serial of the zone that was checked.' }),
    findings: Type.Array(
      Shape({
        rule: Words(Object.keys(lintRules) as LintRule[], { description: 'Rule that matched. More rules may be added.' }),
        ...rrsetName,
        detail: Type.String({ description: 'Description of the problem.' }),
        reference: Type.String({ description: 'Document and section that the rule is based on.' }),
      }),
      { maxItems: maxFindings, description: 'Findings, sorted by name.' },
    ),
    truncated: Type.Boolean({ description: `True if there are more than ${maxFindings.toLocaleString('en-US')} findings.` }),
  },
  {
    $id: 'ZoneLint',
    description: 'Lint findings of a zone: settings that are valid but usually a mistake.',
    examples: [
      {
        zone_id: zoneExample.id,
        serial: 7,
        findings: [
          {
            rule: 'single_name_server',
            name: '@',
            type: 'NS',
            detail: 'The zone has a single name server; if it is down, nothing in the zone resolves.',
            reference: 'RFC 2182 5',
          },
        ],
        truncated: false,
      },
    ],
  },
)

export type ZoneLint = Static<typeof ZoneLint>
