/** Renders a text whose dates, such as 2026-11-30, don’t break at their hyphens. */
export const TextWithDates = ({ text }: { text: string }) =>
  text.split(/(\d{4}-\d{2}-\d{2})/).map((piece, at) =>
    at % 2 === 1 ? (
      <span key={at} className="whitespace-nowrap">
        {piece}
      </span>
    ) : (
      piece
    ),
  )
