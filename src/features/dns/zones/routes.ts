import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { Zone, ZoneInput, ZoneList, ZonePatch } from './shapes'
import { createZone, deleteZone, getZone, listZones, updateZone, zoneListing } from './zones'

export const dnsZoneRoutes = area('dns-zones', 'DNS', [
  ...crud({
    type: 'zone',
    response: Zone,
    list: {
      description: 'Lists the DNS zones of the workspace.',
      listing: zoneListing,
      response: ZoneList,
      run: listZones,
    },
    create: {
      description:
        'Creates a zone with an SOA and NS records. By default, the built-in name server serves it. A zone hosted at a provider has no ' +
        'NS records by default, because the provider sets its own. If the default name servers ' +
        'are inside the zone, an address record with the hub’s own address is added as glue. Zone names are unique across the ' +
        'installation.',
      body: ZoneInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createZone,
    },
    get: {
      description: 'Returns a zone with its serial, SOA fields, and sync status.',
      run: getZone,
    },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396). A `paused` zone keeps its records, but is neither served nor ' +
        'synced.',
      body: ZonePatch,
      run: updateZone,
    },
    delete: {
      description: 'Deletes a zone with all its records. The name server stops answering for it; copies at providers are kept.',
      run: deleteZone,
    },
  }),
])
