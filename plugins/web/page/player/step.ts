/** Another video to switch to. */
export interface Step {
  title: string
  /** The path of its view. */
  path: string
  go: () => void
}
