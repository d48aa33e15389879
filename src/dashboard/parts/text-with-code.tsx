/** Renders a text, with the parts between backticks as inline code. */
export const TextWithCode = ({ text }: { text: string }) =>
  text.split('`').map((piece, at) =>
    at % 2 === 1 ? (
      <code key={at} className="font-mono wrap-anywhere">
        {piece}
      </code>
    ) : (
      piece
    ),
  )
