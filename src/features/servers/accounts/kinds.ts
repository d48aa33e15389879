import { kindView } from '../../../adapters/kinds'
import { onePage, type Page } from '../../../core/shapes'
import { cloudKinds } from '../clouds'
import { internalVerbs } from '../clouds/cloud'
import type { CloudKindView } from './shapes'

/** Lists all kinds of clouds on one page. */
export const listCloudKinds = (): Page<CloudKindView> =>
  onePage(
    cloudKinds.map(kind => {
      const { capabilities: can } = kind
      return {
        ...kindView(kind),
        capabilities: {
          actions: can.verbs.filter(one => !internalVerbs.includes(one)),
          sizes: can.sizes,
          needs_location: can.needsLocation,
          ssh_keys: can.sshKeys,
          user_data: can.userData,
          networks: can.networks,
          address_families: can.addressFamilies,
          backups: can.backups,
          protection: [...can.protection],
          has_prices: can.hasPrices,
          labels: can.labels,
          volumes: can.volumes !== null,
          snapshots: can.snapshots !== null,
          volume_snapshots: can.volumes?.snapshots ?? false,
          firewall_protocols: [...can.firewallProtocols],
          firewall_blocks: can.firewallBlocks,
          name_pattern: can.names.pattern,
          sync_seconds: kind.syncSeconds,
        },
      }
    }),
  )
