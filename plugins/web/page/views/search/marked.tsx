/** A text with the highlights that the API marks. */
import { readMarked } from './query-syntax.ts'

export function Marked({ line }: { line: string }) {
  return (
    <>
      {readMarked(line).map(({ text, isMarked }, position) => (isMarked ? <mark key={position}>{text}</mark> : text))}
    </>
  )
}
