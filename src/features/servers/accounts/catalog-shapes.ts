import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape, SinglePageOf, Words } from '../../../core/shapes'

export const CatalogQuery = Shape({
  refresh: Type.Optional(
    Type.Boolean({ description: 'Reads the catalog at the cloud now. Limited to 10 requests a minute per account.' }),
  ),
})

/** A list of a catalog. */
const catalogListOf = <T extends TSchema>(item: T) =>
  SinglePageOf(item, { as_of: Instant({ description: 'When the catalog was read.' }) })

const slug = Type.String({ description: 'Identifier to use in orders.' })
const title = Type.String({ description: 'Display name.' })

const Location = Shape(
  {
    slug,
    title,
    country: Nullable(Type.String(), { description: 'Country; null if unknown.' }),
    city: Nullable(Type.String(), { description: 'City; null if unknown.' }),
  },
  {
    $id: 'CloudLocation',
    description: 'A location where servers can be created.',
    examples: [{ slug: 'fsn1', title: 'Falkenstein DC Park 1', country: 'DE', city: 'Falkenstein' }],
  },
)
export const CloudLocationList = catalogListOf(Location)

const Size = Shape(
  {
    slug,
    title,
    cores: Nullable(Type.Integer(), { description: 'Number of CPU cores; null if unknown.' }),
    memory_bytes: Nullable(Type.Integer(), { description: 'Memory in bytes; null if unknown.' }),
    disk_bytes: Nullable(Type.Integer(), { description: 'Size of the root disk in bytes; null if unknown.' }),
    architecture: Nullable(Type.String(), { description: 'CPU architecture; null if unknown.' }),
    shared_cores: Type.Boolean({ description: 'Whether the cores are shared with other customers.' }),
    unavailable_after: NullableInstant({ description: 'When it can no longer be ordered; null if it is not deprecated.' }),
    offers: Type.Array(
      Shape(
        {
          location: Type.String({ description: 'Slug of the location.' }),
          price: Nullable(
            Shape(
              {
                monthly: Type.String({ description: 'Price per month, including taxes.' }),
                currency: Type.String({ description: 'Currency.' }),
              },
              { $id: 'CloudPrice', description: 'A price.' },
            ),
            { description: 'Price; null if not known or free.' },
          ),
          available: Type.Boolean({ description: 'Whether it is in stock.' }),
        },
        { $id: 'CloudSizeOffer', description: 'Price and availability of a size in a location.' },
      ),
      { description: 'Locations where it is offered; empty if the cloud has none.' },
    ),
  },
  {
    $id: 'CloudSize',
    description: 'A size of servers.',
    examples: [
      {
        slug: 'cx22',
        title: 'CX22',
        cores: 2,
        memory_bytes: 4_294_967_296,
        disk_bytes: 42_949_672_960,
        architecture: 'x86',
        shared_cores: true,
        unavailable_after: null,
        offers: [{ location: 'fsn1', price: { monthly: '4.51', currency: 'EUR' }, available: true }],
      },
    ],
  },
)
export const CloudSizeList = catalogListOf(Size)

const Image = Shape(
  {
    slug,
    title,
    family: Nullable(Type.String(), { description: 'Family of the operating system; null if unknown.' }),
    architecture: Nullable(Type.String(), { description: 'CPU architecture; null if unknown.' }),
    kind: Words(['system', 'snapshot', 'backup', 'app', 'template'], { description: 'Kind of image.' }),
    min_disk_bytes: Nullable(Type.Integer(), { description: 'Minimum size of the disk in bytes; null if unknown.' }),
    deprecated: Type.Boolean({ description: 'Whether it will be removed.' }),
  },
  {
    $id: 'CloudImage',
    description: 'An image that servers can be created from.',
    examples: [
      {
        slug: 'debian-12',
        title: 'Debian 12',
        family: 'debian',
        architecture: 'x86',
        kind: 'system',
        min_disk_bytes: 5_368_709_120,
        deprecated: false,
      },
    ],
  },
)
export const CloudImageList = catalogListOf(Image)

const Network = Shape(
  {
    ref: Type.String({ description: 'Identifier to use in orders.' }),
    title,
    cidrs: Type.Array(Type.String(), { description: 'Address ranges in CIDR notation.' }),
    location: Nullable(Type.String(), { description: 'Location; null if it has none.' }),
  },
  {
    $id: 'CloudNetwork',
    description: 'A private network.',
    examples: [{ ref: '4711', title: 'internal', cidrs: ['10.0.0.0/16'], location: null }],
  },
)
export const CloudNetworkList = catalogListOf(Network)

export type CatalogLocationView = Static<typeof Location>
export type CatalogSizeView = Static<typeof Size>
export type CatalogImageView = Static<typeof Image>
export type CatalogNetworkView = Static<typeof Network>
