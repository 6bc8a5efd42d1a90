/** Another video that one can go to. */
export interface Step {
  title: string
  /** Of its view. */
  path: string
  go: () => void
}
