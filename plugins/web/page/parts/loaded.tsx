/** A part of a view that loads data: a placeholder while loading, and its own error message. */
import type { ComponentChildren } from 'preact'
import type { Load } from '../stores/load.ts'
import { Box, Failed } from './states.tsx'

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
  if (state === 'failed') return <Failed failure={failure} onRetry={() => from.reload()} />
  return state === 'ready' ? children(value) : <Box height={height} radius="10px" />
}
