/** Icons of one set (lucide), 20 pixels; a label beside the icon or on its button gives the meaning. */

import type { IconNode } from 'lucide'
import { h } from 'preact'

export function Icon({ node, size = 20, isFilled = false }: { node: IconNode; size?: number; isFilled?: boolean }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill={isFilled ? 'currentColor' : 'none'}
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {node.map(([name, attributes], position) => h(name, { ...attributes, key: position }))}
    </svg>
  )
}

/** The logo: an arch. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 64 64" aria-hidden="true">
      <path fill="currentColor" d="M8 58V32a24 24 0 0 1 48 0v26H43V32a11 11 0 0 0-22 0v26Z" />
    </svg>
  )
}
