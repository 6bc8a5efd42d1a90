/** The layout for the viewing distance: televisions are detected, or chosen by the user. Stored on this device. */
import { computed, effect, signal } from '@preact/signals'

export const LAYOUTS = ['auto', 'near', 'sofa'] as const
export type Layout = (typeof LAYOUTS)[number]

const KEY = 'av_layout'
const TELEVISIONS =
  /\b(smart-?tv|googletv|android tv|tizen|web0s|webos|bravia|aft[a-z]+|crkey|hbbtv|netcast|vidaa|roku)\b/i
/** Matches a large screen without mouse and touch. */
const handsOff = matchMedia('(hover: none) and (pointer: none) and (min-width: 960px)')

const stored = (): Layout => {
  try {
    return LAYOUTS.find((one) => one === localStorage.getItem(KEY)) ?? 'auto'
  } catch {
    return 'auto' // storage is blocked
  }
}

export const layout = signal<Layout>(stored())
const isTelevision = TELEVISIONS.test(navigator.userAgent) || handsOff.matches
export const isSofa = computed(() => layout.value === 'sofa' || (layout.value === 'auto' && isTelevision))

export function chooseLayout(chosen: Layout): void {
  layout.value = chosen
  try {
    if (chosen === 'auto') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, chosen)
  } catch {
    return // storage is full or blocked: the choice applies to this document only
  }
}

effect(() => {
  if (isSofa.value) document.documentElement.dataset['layout'] = 'sofa'
  else delete document.documentElement.dataset['layout']
})
