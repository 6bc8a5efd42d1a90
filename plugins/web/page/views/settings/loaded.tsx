/** What a section shows comes from the server: grey rows at first, its failure with a way on. */
import type { ComponentChildren } from 'preact'
import { Box, Failed } from '../../parts/states.tsx'
import type { Load } from '../../stores/load.ts'

export function Loaded<Value>({
  from,
  height = '280px',
  children,
}: {
  from: Load<Value>
  height?: string
  children: (value: Value) => ComponentChildren
}) {
  const { state, value, failure } = from.now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={() => void from.reload()} />
  return state === 'ready' ? children(value) : <Box height={height} radius="10px" />
}
