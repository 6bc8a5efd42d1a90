/** An entry in a list of choices, in a dialog. */
import { Check } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface ChoiceProps {
  name: string
  /** undefined: a choice closes the list, so no entry is marked. */
  isChosen: boolean | undefined
  onPick: () => void
  /** Shown after the name. */
  children?: ComponentChildren
}

export const Choice = ({ name, isChosen, onPick, children }: ChoiceProps) => (
  <li>
    <button type="button" aria-pressed={isChosen} onClick={onPick}>
      <bdi>{name}</bdi>
      {children}
      {isChosen && <Icon node={Check} />}
    </button>
  </li>
)
