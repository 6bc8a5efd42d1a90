/** Another video that one can go to. */
export interface Step {
  title: string
  go: () => void
}
