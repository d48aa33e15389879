/** A text of the API in which `words between backticks` are for a machine. */
export const Marked = ({ text }: { text: string }) =>
  text.split('`').map((piece, at) =>
    at % 2 === 1 ? (
      <code key={at} className="font-mono wrap-anywhere">
        {piece}
      </code>
    ) : (
      piece
    ),
  )
