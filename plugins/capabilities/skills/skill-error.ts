/** Says why a folder is not served as a skill. */
export class SkillError extends Error {
  override readonly name = 'SkillError'
}
